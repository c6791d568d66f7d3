package leases

import (
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

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
