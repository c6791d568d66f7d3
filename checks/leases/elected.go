package leases

import (
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// EachLeader is checks.Each for facts that mean something of a leader only: it
// yields the answers of instances that lead, and reports the others as out of
// scope. The check's Needs list f and e.Leads.
func EachLeader[T any](p *checks.Pass, e *leases.Elected, f *collectors.Fact[T]) iter.Seq2[collectors.Target, T] {
	return func(yield func(collectors.Target, T) bool) {
		for t, v := range checks.Each(p, f) {
			l, gap := checks.Of(p, e.Leads, t)
			switch {
			case gap != nil:
				p.Unknown(t, gap)
			case !l.Leads:
				p.Nothing(t, "does not lead, so it has no work (by %s)", l.By)
			case !yield(t, v):
				return
			}
		}
	}
}
