package html

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
	"github.com/ktriage/ktriage/internal/vitals"
)

// ago makes earlier runs of a report, whose numbers rise to what it says.
func ago(r *report.Report, n int) []Past {
	var out []Past
	for i := range n {
		p := Past{At: r.StartedAt.Add(time.Duration(i-n) * time.Hour)}
		for _, v := range r.Vitals {
			v.Value *= float64(i+1) / float64(n+1)
			p.Vitals = append(p.Vitals, v)
		}
		out = append(out, p)
	}
	return out
}

func TestACourseIsDrawnToScale(t *testing.T) {
	v := vitals.Vital{Name: "fsync p99", Unit: "s", Value: 4}
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	svg := string(course(v, []point{{at, 0}, {at.Add(time.Hour), 2}, {at.Add(3 * time.Hour), 1}}))
	// Four and a half hours: the third point is at two thirds of them.
	for _, want := range []string{`points="2.0,20.0 22.4,11.0 63.3,15.5 94.0,2.0"`, "fsync p99 over 4 runs, at most 4 s"} {
		if !strings.Contains(svg, want) {
			t.Errorf("got %s, want %s", svg, want)
		}
	}
	for name, before := range map[string][]point{
		"nothing before":       nil,
		"one run is no course": {{at, 1}},
		"no number":            {{at, 1}, {at.Add(1), math.NaN()}},
		"all at one time":      {{at, 1}, {at, 1}},
	} {
		if got := course(v, before); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := course(vitals.Vital{Value: 0}, []point{{at, 0}, {at.Add(1), 0}}); got != "" {
		t.Errorf("nothing but zeros is drawn: %s", got)
	}
}

func TestBucketsAreDrawnAndTold(t *testing.T) {
	v := vitals.Vital{Name: "fsync p99", Unit: "s", Buckets: []vitals.Bucket{{Over: 0.001, UpTo: 0.002, Count: 1000}, {Over: 0.002, UpTo: 0.004}, {Over: 0.004, Count: 1}}}
	svg := string(buckets(v))
	for _, want := range []string{
		`height="22.0"><title>1 ms to 2 ms: 1000</title>`,
		`height="0.0"><title>2 ms to 4 ms: 0</title>`,
		`height="1.0"><title>above 4 ms: 1</title>`, // what is there is seen
		"<small>1001, above 1 ms</small>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("got %s\nwant %s", svg, want)
		}
	}
	for name, bs := range map[string][]vitals.Bucket{
		"none": nil, "empty": {{Over: 1, UpTo: 2}}, "negative": {{Count: -1}}, "no number": {{Count: math.Inf(1)}}, "too many": make([]vitals.Bucket, 100),
	} {
		if got := buckets(vitals.Vital{Buckets: bs}); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestEveryRuleHasItsPage follows each link of the page.
func TestEveryRuleHasItsPage(t *testing.T) {
	var b bytes.Buffer
	r := reporttest.Sample()
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	ids := map[checks.ID]bool{}
	for _, f := range r.Findings {
		ids[f.Check] = true
	}
	for id := range ids {
		if strings.Count(page, `<div id="rule-`+string(id)+`">`) != 1 || !strings.Contains(page, `href="#rule-`+string(id)+`"`) {
			t.Errorf("%s has no page, or no link leads there", id)
		}
	}
}
