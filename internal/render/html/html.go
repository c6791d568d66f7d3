// Package html writes a report as one page that needs nothing else: no script, no
// request, and a policy that lets a browser do neither.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

var (
	//go:embed page.tmpl
	page string
	//go:embed page.css
	style string
)

// Policy is what a browser may do with a page: show it in its own style.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// Write writes the page of a report alone.
func Write(w io.Writer, r *report.Report) error { return WriteAfter(w, r, nil) }

// WriteAfter writes the page of a report, with the course of its vitals over
// earlier runs, of which the earliest is first.
func WriteAfter(w io.Writer, r *report.Report, past []Past) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"clean":  term.Clean,
		"count":  checks.Count[int],
		"upper":  func(s checks.Status) string { return word(s) },
		"chart":  chart,
		"tables": func(r *report.Report) []table { return tables(r, past) },
		"anchor": anchor,
		"rfc":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"gaps":   gaps,
		"seen":   seen,
		"judged": judged,
	}).Parse(page)
	if err != nil {
		return err
	}
	found, others, err := pages(r)
	if err != nil {
		return err
	}
	// The page is made whole before any of it is written: one that ends in the
	// middle looks as if there were no more trouble.
	var b bytes.Buffer
	if err := t.Execute(&b, struct {
		*report.Report
		Policy string
		Style  template.CSS
		Lacks  []report.Lack
		Groups []group
		Found  []doc // the pages of rules that found something to act upon
		Others []doc
	}{r, Policy(), template.CSS(style), r.Lacks(), groups(r), found, others}); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func word(s checks.Status) string {
	if s == checks.OutOfScope {
		return "n/a"
	}
	return s.String()
}

// A group is the verdicts of one component.
type group struct {
	Component string
	Counts    []tally
	Findings  []report.Finding
}

type tally struct {
	Status checks.Status
	N      int
}

func groups(r *report.Report) []group {
	var out []group
	for _, f := range r.Findings {
		i := slices.IndexFunc(out, func(g group) bool { return g.Component == string(f.Component) })
		if i < 0 {
			i = len(out)
			out = append(out, group{Component: string(f.Component)})
		}
		out[i].Findings = append(out[i].Findings, f)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Findings, func(a, b report.Finding) int { return b.Status.Severity() - a.Status.Severity() })
		for _, s := range []checks.Status{checks.Critical, checks.Warning, checks.Unknown, checks.Info, checks.Suppressed, checks.OK, checks.OutOfScope} {
			n := 0
			for _, f := range out[i].Findings {
				if f.Status == s {
					n++
				}
			}
			if n > 0 {
				out[i].Counts = append(out[i].Counts, tally{s, n})
			}
		}
	}
	return out
}

// gaps counts the verdicts that a problem keeps from being had.
func gaps(p report.Problem) int {
	n := 0
	for _, s := range p.Symptoms {
		if s.Status == checks.Unknown {
			n++
		}
	}
	return n
}

// seen are the symptoms that are trouble.
func seen(p report.Problem) []report.Symptom {
	return slices.DeleteFunc(slices.Clone(p.Symptoms), func(s report.Symptom) bool { return !s.Status.Bad() })
}

// judged lists the rules that could not judge, each once.
func judged(l report.Lack) string {
	var ids []string
	for _, f := range l.Findings {
		if !slices.Contains(ids, string(f.Check)) {
			ids = append(ids, string(f.Check))
		}
	}
	return term.Clean(checks.List(ids, 12))
}

// A doc is the page of a rule.
type doc struct {
	ID    checks.ID
	Title string
	Body  template.HTML
}

// pages are those of the rules that were run: of those that found something to
// act upon, and of the others.
func pages(r *report.Report) (found, others []doc, err error) {
	ran, bad := map[checks.ID]bool{}, map[checks.ID]bool{}
	for _, f := range r.Findings {
		ran[f.Check] = true
		bad[f.Check] = bad[f.Check] || f.Status.Bad() || f.Status == checks.Info
	}
	for _, c := range suite.All() {
		if !ran[c.ID] {
			continue
		}
		_, body, _ := strings.Cut(strings.TrimSpace(c.Doc), "\n") // the heading is the page's own
		var b bytes.Buffer
		if err := goldmark.Convert([]byte(body), &b); err != nil {
			return nil, nil, fmt.Errorf("page of %s: %w", c.ID, err)
		}
		// What a rule's page says is in the program; nothing of it comes of a cluster.
		d := doc{c.ID, c.Title, template.HTML(b.String())}
		if bad[c.ID] {
			found = append(found, d)
		} else {
			others = append(others, d)
		}
	}
	return found, others, nil
}

// anchor is where a rule's page is.
func anchor(id checks.ID) string { return "rule-" + string(id) }
