package checks

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// Run judges the snapshot by each check, in the order given. Every check
// answers, for every target it was given: where it does not, or panics, or has
// nothing to examine, the verdict is Unknown.
func Run(s *collectors.Snapshot, checks []*Check) []Finding { return RunWith(s, checks, nil) }

// RunWith is Run with some thresholds moved.
func RunWith(s *collectors.Snapshot, checks []*Check, t Tuning) []Finding {
	var out []Finding
	for _, c := range checks {
		p := &Pass{check: c, snap: s, tuning: t}
		why := p.run()
		for _, t := range slices.Clone(p.owed) {
			p.Unknown(t, why)
		}
		if len(p.findings) == 0 || why.Reason == collectors.Bug && len(p.findings) > 0 && why.Detail != forgot {
			p.Unknown(collectors.Target{Component: c.Component}, why)
		}
		p.attribute()
		slices.SortStableFunc(p.findings, func(a, b *Finding) int { return collectors.CompareTargets(a.Target, b.Target) })
		for _, f := range p.findings {
			out = append(out, *f)
		}
	}
	return out
}

const forgot = "the check gave no verdict"

// run runs the check and returns the gap to report where it left no verdict.
func (p *Pass) run() (why *collectors.Gap) {
	defer func() {
		if r := recover(); r != nil {
			why = &collectors.Gap{Reason: collectors.Bug, Detail: fmt.Sprintf("check %s: %v", p.check.ID, r)}
		}
	}()
	p.check.Run(p)
	if len(p.owed) > 0 {
		return &collectors.Gap{Reason: collectors.Bug, Detail: forgot}
	}
	return &collectors.Gap{Reason: collectors.NotAsked, Detail: "there was nothing to examine"}
}

// Facts returns the facts that the checks need, each once.
func Facts(checks []*Check) []collectors.Any {
	var out []collectors.Any
	seen := map[string]bool{}
	for _, c := range checks {
		for _, f := range c.Needs {
			if !seen[f.Name()] {
				seen[f.Name()] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// Worst returns the status that a report as a whole has: critical, unknown,
// warning or ok, whichever is worst in that order. Where nothing was judged it
// is unknown: no bad news from nobody is not good news. Where all that was judged
// is suppressed, it is that, and not ok.
func Worst(fs []Finding) Status {
	worst, judged, suppressed := OK, false, false
	for _, f := range fs {
		if f.Status == Suppressed {
			suppressed = true
			continue
		}
		judged = judged || f.Status != OutOfScope && f.Status != Unknown
		if f.Status.Severity() > worst.Severity() && f.Status != Info {
			worst = f.Status
		}
	}
	switch {
	case judged || worst != OK:
		return worst
	case suppressed:
		return Suppressed
	}
	return Unknown
}
