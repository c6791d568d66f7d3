// Package junit writes a report as JUnit's XML, which pipelines show: a suite a
// component, a test a verdict.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

// A suite has the elements and attributes that Ant's schema demands, in its order.
type suite struct {
	ID         int        `xml:"id,attr"`
	Name       string     `xml:"name,attr"`
	Package    string     `xml:"package,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Hostname   string     `xml:"hostname,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`
	Out        string     `xml:"system-out"`
	Err        string     `xml:"system-err"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Skipped *empty   `xml:"skipped"`
	Error   *outcome `xml:"error"`
	Failure *outcome `xml:"failure"`
}

type empty struct{}

type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Body    string `xml:",chardata"`
}

// Write writes the report. Trouble is a failure, what is not known an error, what
// does not exist here or is suppressed skipped. Advice passes, as it does everywhere.
func Write(w io.Writer, r *report.Report) error {
	var doc suites
	var components []collectors.Component
	for _, f := range r.Findings {
		if !slices.Contains(components, f.Component) {
			components = append(components, f.Component)
		}
	}
	for i, c := range components {
		s := suite{
			ID: i, Name: clean(string(c)), Package: "ktriage", Timestamp: r.StartedAt.UTC().Format("2006-01-02T15:04:05"), Hostname: host(r),
			Time: "0", // what a run takes is shared by all verdicts
			Properties: []property{
				{"ktriage.version", clean(r.Tool.Version)}, {"ktriage.source", clean(r.Source)}, {"ktriage.status", r.Status.String()},
				{"ktriage.durationSeconds", strconv.FormatFloat(r.DurationSeconds, 'f', -1, 64)},
			},
		}
		for _, f := range r.Findings {
			if f.Component != c {
				continue
			}
			s.add(f)
		}
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *suite) add(f report.Finding) {
	t := testcase{Name: clean(f.Target.String()), Class: clean(string(f.Check)), Time: "0"}
	s.Tests++
	switch f.Status {
	case checks.Critical, checks.Warning:
		s.Failures++
		t.Failure = &outcome{clean(f.Summary), f.Status.String(), body(f)}
	case checks.Unknown:
		s.Errors++
		t.Error = &outcome{clean(f.Summary), f.Status.String(), body(f)}
	case checks.Suppressed: // the schema has no room for why in the element itself
		s.Skipped++
		t.Skipped = &empty{}
		s.Out += clean(fmt.Sprintf("suppressed: %s on %s: %s: %s", f.Check, f.Target, f.Summary, f.Suppressed.Told())) + "\n"
	case checks.OutOfScope:
		s.Skipped++
		t.Skipped = &empty{}
	}
	s.Cases = append(s.Cases, t)
}

// body is what a pipeline shows when a test is opened.
func body(f report.Finding) string {
	lines := []string{clean(f.Summary)}
	for _, e := range f.Evidence {
		line := "- " + e.Field + " " + e.Value
		if e.Limit != "" {
			line += ", limit " + e.Limit
		}
		if e.Source != "" {
			line += " (" + e.Source + ")"
		}
		lines = append(lines, clean(line))
	}
	if f.Gap != nil && f.Gap.Remedy != "" {
		lines = append(lines, "to know: "+clean(f.Gap.Remedy))
	}
	if f.Explained {
		lines = append(lines, "a problem that was found explains this")
	}
	lines = append(lines, clean(fmt.Sprintf("rule: ktriage explain %s", f.Check)))
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// host is the cluster: the schema wants one, and no empty one.
func host(r *report.Report) string {
	if name := strings.Join(strings.Fields(clean(r.Cluster.Name)), "-"); name != "" {
		return name
	}
	return "cluster"
}

func clean(s string) string { return strings.TrimSpace(term.Clean(s)) }
