package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// maxRead bounds a saved report, which is held in memory. One of five thousand
// findings has four megabytes.
const maxRead = 256 << 20

// Read reads a saved report, JSON or YAML. Fields of later versions are left
// out; a document of another kind is an error. What is read may have been made
// by anybody, and what renderers rely on is held here.
func Read(in io.Reader) (*Report, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxRead+1))
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if len(b) > maxRead {
		return nil, fmt.Errorf("read report: it is over %d bytes", maxRead)
	}
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil, errors.New("read report: it is empty")
	}
	if b[0] != '{' {
		if b, err = yaml.YAMLToJSON(b); err != nil {
			return nil, fmt.Errorf("read report: it is neither JSON nor YAML: %w", err)
		}
	}
	// The version first: what is no report has none, and is told so rather than
	// by the field that happens to be in the way.
	var v struct {
		SchemaVersion string `json:"schemaVersion"`
		Findings      *json.RawMessage
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	switch {
	case v.SchemaVersion == "" || v.Findings == nil:
		return nil, errors.New("read report: it is no report of ktriage doctor -o json or -o yaml")
	case v.SchemaVersion != SchemaVersion:
		return nil, fmt.Errorf("read report: its schemaVersion is %q, this ktriage reads %q", v.SchemaVersion, SchemaVersion)
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if err := r.mend(); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return &r, nil
}

// mend fills in what New always sets, and refuses what it never makes.
func (r *Report) mend() error {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Gap == nil && (f.Status == checks.Unknown || f.Status == checks.OutOfScope) {
			f.Gap = collectors.Gapf(collectors.NotAsked, "the report does not say why")
		}
		if f.Suppressed == nil && f.Status == checks.Suppressed {
			f.Suppressed = &SuppressedBy{Status: checks.Unknown, Reason: "the report does not say why"}
		}
	}
	for _, p := range r.Problems {
		for i, s := range p.Symptoms {
			if s.Of < 0 || s.Of > len(p.Symptoms) {
				return fmt.Errorf("symptom %d of the problem %q comes of number %d, which there is not", i+1, p.Check, s.Of)
			}
			steps := 0
			for at := i + 1; at != 0; at = p.Symptoms[at-1].Of {
				if steps++; steps > len(p.Symptoms) || p.Symptoms[at-1].Of < 0 || p.Symptoms[at-1].Of > len(p.Symptoms) {
					return fmt.Errorf("symptom %d of the problem %q explains itself", i+1, p.Check)
				}
			}
		}
	}
	if r.Changes != nil {
		return r.Changes.mend()
	}
	return nil
}

func (c *Changes) mend() error {
	for i := range c.Changes {
		if x := &c.Changes[i]; x.Of < 0 || x.Of > len(c.Changes) || x.Of == i+1 || x.Of > 0 && c.Changes[x.Of-1].Of != 0 {
			return fmt.Errorf("change %d belongs to number %d, which it cannot", i+1, x.Of)
		}
	}
	return nil
}
