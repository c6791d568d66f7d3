package leases

import (
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// stopped reports whether an instance is known to have no process of which
// anything could be asked.
func stopped(p *checks.Pass, e *leases.Elected, t collectors.Target) bool {
	i, gap := checks.Of(p, e.Instances, t)
	return gap == nil && leases.Stopped(i)
}

// EachRunning is checks.Each for facts about a process: an instance that gave
// no answer because no container of it runs is out of scope. That it does not
// run is for others to say. The check's Needs list f and e.Instances.
func EachRunning[T any](p *checks.Pass, e *leases.Elected, f *collectors.Fact[T]) iter.Seq2[collectors.Target, T] {
	return EachRunningOr(p, e, f, func(collectors.Target, *collectors.Gap) bool { return false })
}

// EachRunningOr is EachRunning for checks that can tell something from a gap,
// too: those of which or returns true are dealt with.
func EachRunningOr[T any](p *checks.Pass, e *leases.Elected, f *collectors.Fact[T], or func(collectors.Target, *collectors.Gap) bool) iter.Seq2[collectors.Target, T] {
	return func(yield func(collectors.Target, T) bool) {
		answers, gap := checks.All(p, f)
		if gap != nil {
			p.Unknown(e.Self(), gap)
			return
		}
		for _, a := range answers {
			switch {
			case a.Gap == nil && !yield(a.Target, a.Value):
				return
			case a.Gap == nil:
			case stopped(p, e, a.Target):
				p.Nothing(a.Target, "no container of it runs")
			case !or(a.Target, a.Gap):
				p.Unknown(a.Target, a.Gap)
			}
		}
	}
}

// EachLeader is checks.Each for facts that mean something of a leader only: it
// yields the answers of instances that lead, and reports those of others as out
// of scope, whatever could be learned of them. The check's Needs list f and
// e.Leads.
func EachLeader[T any](p *checks.Pass, e *leases.Elected, f *collectors.Fact[T]) iter.Seq2[collectors.Target, T] {
	return func(yield func(collectors.Target, T) bool) {
		answers, gap := checks.All(p, f)
		if gap != nil {
			p.Unknown(e.Self(), gap)
			return
		}
		for _, a := range answers {
			l, gap := checks.Of(p, e.Leads, a.Target)
			switch {
			case gap == nil && !l.Leads:
				p.Nothing(a.Target, "does not lead, so it has no work (by %s)", l.By)
			case a.Gap != nil:
				p.Unknown(a.Target, a.Gap)
			case gap != nil:
				p.Unknown(a.Target, gap)
			case !yield(a.Target, a.Value):
				return
			}
		}
	}
}
