package checks

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Pass is one run of one check over one snapshot.
type Pass struct {
	check    *Check
	snap     *collectors.Snapshot
	tuning   Tuning
	owed     []collectors.Target // targets given out by Each, still without a verdict
	findings []*Finding
}

// Now is when the snapshot was taken, so that a replay judges as the run did.
func (p *Pass) Now() time.Time { return p.snap.At }

// OK reports that the target is as it should be. It returns the verdict, for
// its evidence.
func (p *Pass) OK(t collectors.Target, format string, a ...any) *Verdict {
	return p.report(t, OK, nil, format, a...)
}

// Info reports advice.
func (p *Pass) Info(t collectors.Target, format string, a ...any) *Verdict {
	return p.report(t, Info, nil, format, a...)
}

// Warn reports what will hurt.
func (p *Pass) Warn(t collectors.Target, format string, a ...any) *Verdict {
	return p.report(t, Warning, nil, format, a...)
}

// Critical reports what makes the control plane fail, now or within hours.
func (p *Pass) Critical(t collectors.Target, format string, a ...any) *Verdict {
	return p.report(t, Critical, nil, format, a...)
}

// Judge reports one of the statuses OK, Info, Warning and Critical.
func (p *Pass) Judge(t collectors.Target, s Status, format string, a ...any) *Verdict {
	if s == Unknown || s == OutOfScope || s == Suppressed {
		panic("Judge needs a verdict; Unknown takes a gap")
	}
	return p.report(t, s, nil, format, a...)
}

// Unknown reports why there is no verdict. A gap that is out of scope makes
// the finding so.
func (p *Pass) Unknown(t collectors.Target, g *collectors.Gap) *Verdict {
	s := Unknown
	if g.Reason == collectors.OutOfScope {
		s = OutOfScope
	}
	return p.report(t, s, g, "%s", g.Detail)
}

// Nothing reports that there is nothing to judge: the thing does not exist
// here, or did nothing in the window.
func (p *Pass) Nothing(t collectors.Target, format string, a ...any) *Verdict {
	return p.Unknown(t, collectors.Gapf(collectors.OutOfScope, format, a...))
}

func (p *Pass) report(t collectors.Target, s Status, g *collectors.Gap, format string, a ...any) *Verdict {
	p.owed = slices.DeleteFunc(p.owed, t.Is)
	f := &Finding{Check: p.check.ID, Target: t, Status: s, Gap: g, Summary: fmt.Sprintf(format, a...)}
	p.findings = append(p.findings, f)
	return (*Verdict)(f)
}

// A Verdict is a finding that is still being given its evidence.
type Verdict Finding

// Saw adds a piece of evidence: what a field of a fact was, against what limit
// and where that limit comes from. Limit and source may be empty.
func (v *Verdict) Saw(f collectors.Any, field, value, limit, source string) *Verdict {
	v.Evidence = append(v.Evidence, Evidence{f.Name(), v.Target, field, value, limit, source})
	return v
}

// Number keeps a measurement for links.
func (v *Verdict) Number(name string, x float64) *Verdict {
	if v.Numbers == nil {
		v.Numbers = map[string]float64{}
	}
	v.Numbers[name] = x
	return v
}

// Mark keeps a mark for links.
func (v *Verdict) Mark(m ...string) *Verdict {
	v.Marks = append(v.Marks, m...)
	return v
}

// Thin says that the verdict rests on too few observations to be sure.
func (v *Verdict) TooFew() *Verdict {
	v.Thin = true
	return v
}

// Each yields the targets that answered f, and reports Unknown for each that
// did not. Every target it knows of is owed a verdict: Run reports those that
// the check leaves without one.
func Each[T any](p *Pass, f *collectors.Fact[T]) iter.Seq2[collectors.Target, T] {
	p.use(f)
	return func(yield func(collectors.Target, T) bool) {
		answers, gap := f.Answers(p.snap)
		if gap != nil {
			p.Unknown(collectors.Target{Component: p.check.Component}, gap)
			return
		}
		for _, a := range answers {
			if a.Gap != nil {
				p.Unknown(a.Target, a.Gap)
			} else {
				p.owed = append(p.owed, a.Target)
			}
		}
		for _, a := range answers {
			if a.Gap == nil && !yield(a.Target, a.Value) {
				return
			}
		}
	}
}

// All returns every answer to f, gaps included, for a check that judges the
// targets together, as for quorum.
func All[T any](p *Pass, f *collectors.Fact[T]) ([]collectors.Answer[T], *collectors.Gap) {
	p.use(f)
	return f.Answers(p.snap)
}

// Of returns what f says of one target.
func Of[T any](p *Pass, f *collectors.Fact[T], t collectors.Target) (T, *collectors.Gap) {
	p.use(f)
	return f.Of(p.snap, t)
}

// One returns the answer of a fact that has a single target.
func One[T any](p *Pass, f *collectors.Fact[T]) (T, *collectors.Gap) {
	p.use(f)
	return f.One(p.snap)
}

func (p *Pass) use(f collectors.Any) {
	for _, n := range p.check.Needs {
		if n.Name() == f.Name() {
			return
		}
	}
	panic(fmt.Sprintf("check %s reads %s, which its Needs do not list", p.check.ID, f.Name()))
}
