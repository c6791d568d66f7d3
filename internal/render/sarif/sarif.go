// Package sarif writes a report as SARIF 2.1.0, which code-scanning services
// show and keep.
package sarif

import (
	"encoding/json"
	"io"
	"net/url"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

const (
	version  = "2.1.0"
	schema   = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	language = "en-US"
	home     = "https://github.com/ktriage/ktriage"
)

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool        tool         `json:"tool"`
	Invocations []invocation `json:"invocations"`
	Results     []result     `json:"results"`
	Properties  properties   `json:"properties"`
	// A reader may take what is not said for another language than a report's.
	Language         string   `json:"language"`
	NewlineSequences []string `json:"newlineSequences"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	InformationURI string `json:"informationUri"`
	Language       string `json:"language"`
	Rules          []rule `json:"rules"`
}

type rule struct {
	ID   string  `json:"id"`
	Help message `json:"help"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	ExecutionSuccessful bool   `json:"executionSuccessful"`
	StartTimeUTC        string `json:"startTimeUtc"`
}

type result struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Kind                string            `json:"kind"`
	Level               string            `json:"level"`
	Message             message           `json:"message"`
	Locations           []location        `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Properties          *explained        `json:"properties,omitempty"`
	// Suppressions are none or one: that of the configuration.
	Suppressions []suppression `json:"suppressions,omitempty"`
}

type explained struct {
	// Explained is of what a problem among the results brings about.
	Explained bool `json:"explained"`
}

// A suppression is external: it is not in what was looked at.
type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type location struct {
	Physical physical  `json:"physicalLocation"`
	Logical  []logical `json:"logicalLocations"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
}

type artifact struct {
	URI string `json:"uri"`
}

type logical struct {
	Name               string `json:"name"`
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

type properties struct {
	Cluster string `json:"cluster"`
	Source  string `json:"source"`
	Status  string `json:"status"`
}

// kinds are what SARIF calls the statuses. A rule that lacks information is
// "open" there, which is neither a pass nor a failure.
var kinds = map[checks.Status]struct{ kind, level string }{
	checks.Critical:   {"fail", "error"},
	checks.Warning:    {"fail", "warning"},
	checks.Info:       {"informational", "none"},
	checks.OK:         {"pass", "none"},
	checks.Unknown:    {"open", "none"},
	checks.OutOfScope: {"notApplicable", "none"},
}

// Write writes every verdict as a result.
func Write(w io.Writer, r *report.Report) error {
	d := driver{Name: "ktriage", Version: term.Clean(r.Tool.Version), InformationURI: home, Language: language, Rules: []rule{}}
	index := map[checks.ID]int{}
	results := []result{}
	for _, f := range r.Findings {
		i, ok := index[f.Check]
		if !ok {
			i = len(d.Rules)
			index[f.Check] = i
			d.Rules = append(d.Rules, rule{ID: term.Clean(string(f.Check)), Help: message{"ktriage explain " + term.Clean(string(f.Check))}})
		}
		results = append(results, resultOf(f, i))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(log{schema, version, []run{{
		Tool:        tool{d},
		Invocations: []invocation{{true, r.StartedAt.UTC().Format("2006-01-02T15:04:05.000Z")}},
		Results:     results,
		Properties:  properties{term.Clean(r.Cluster.Name), term.Clean(r.Source), r.Status.String()},
		Language:    language, NewlineSequences: []string{"\n"},
	}}})
}

func resultOf(f report.Finding, rule int) result {
	k := kinds[f.Status]
	if f.Suppressed != nil {
		k = kinds[f.Suppressed.Status]
	}
	target := term.Clean(f.Target.String())
	out := result{
		RuleID: term.Clean(string(f.Check)), RuleIndex: rule, Kind: k.kind, Level: k.level, Message: message{target + ": " + term.Clean(f.Summary)},
		Locations: []location{{
			Physical: physical{artifact{uri(f.Target)}},
			Logical:  []logical{{target, target, "resource"}},
		}},
		PartialFingerprints: map[string]string{"checkAndTarget/v1": term.Clean(string(f.Check)) + " " + target},
	}
	if f.Suppressed != nil {
		out.Suppressions = []suppression{{"external", "accepted", term.Clean(f.Suppressed.Told())}}
	}
	if f.Explained {
		out.Properties = &explained{true}
	}
	return out
}

// uri stands for the file that services want a result to be in: none is, and a
// target has a path of its own.
func uri(t collectors.Target) string {
	return "cluster/" + url.PathEscape(term.Clean(string(t.Component))) + "/" + url.PathEscape(term.Clean(t.Name))
}
