// Package deliver makes of a report what is sent elsewhere: Kubernetes Events, a
// ConfigMap, the payload of a webhook, a report of OpenReports. It is pure; who
// sends is another.
package deliver

import (
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
)

// News is a problem that the report before did not tell, or told as less bad.
type News struct {
	report.Problem
	Kind report.ChangeKind // NewTrouble or Worse
	// Unsure says that the rule could not judge this in the run before, so that it
	// may be older.
	Unsure bool
}

// Of tells which problems of a report are news. Without a report before, all are.
//
// What was there as a symptom of something else, and is now told by itself, is
// as old as it was.
func Of(r, before *report.Report) []News {
	out := []News{}
	for _, p := range r.Problems {
		n := News{Problem: p, Kind: report.NewTrouble}
		if before != nil {
			was, unsure := wasBad(before, p.Check, p.Target)
			switch {
			case was.Bad() && p.Status.Severity() <= was.Severity():
				continue
			case was.Bad():
				n.Kind = report.Worse
			}
			n.Unsure = unsure
		}
		out = append(out, n)
	}
	return out
}

// wasBad is how bad a report calls something, as a problem or by itself.
func wasBad(r *report.Report, check checks.ID, target collectors.Target) (was checks.Status, unsure bool) {
	worst := checks.OK
	same := func(c checks.ID, t collectors.Target) bool { return c == check && t.String() == target.String() }
	see := func(s checks.Status) {
		if s.Bad() && s.Severity() > worst.Severity() {
			worst = s
		}
	}
	for _, p := range r.Problems {
		// One of several targets with the same trouble is told as the first of them;
		// which one that is may change.
		if same(p.Check, p.Target) || slices.ContainsFunc(p.Also, func(a report.Also) bool { return same(a.Check, a.Target) }) {
			see(p.Status)
		}
	}
	for _, f := range r.Findings {
		if same(f.Check, f.Target) {
			see(f.Status)
			unsure = unsure || f.Status == checks.Unknown
		}
	}
	return worst, unsure
}
