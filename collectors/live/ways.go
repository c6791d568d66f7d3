package live

import (
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// worthAnother says whether a gap of one way leaves hope for the next. One
// that is ours, or that says that there is something strange there, does not.
func worthAnother(g *collectors.Gap) bool {
	return slices.Contains([]collectors.Reason{
		collectors.Unreachable, collectors.NoPath, collectors.Timeout, collectors.Forbidden, collectors.Unauthorized,
		collectors.Absent, collectors.ServerError, collectors.NotAsked,
	}, g.Reason)
}

// promising orders reasons by how close to an answer the way came: what a
// right would open is worth more to know than what is down.
var promising = []collectors.Reason{
	collectors.Forbidden, collectors.Unauthorized, collectors.ServerError, collectors.Timeout,
	collectors.NotAsked, collectors.Unreachable, collectors.NoPath, collectors.Absent,
}

// joinGaps makes one gap of those of several ways: all that was tried, and the
// reason and the remedy of the one that came closest. Nil gaps do not count.
func joinGaps(gaps ...*collectors.Gap) *collectors.Gap {
	gaps = slices.DeleteFunc(gaps, func(g *collectors.Gap) bool { return g == nil })
	if len(gaps) == 1 {
		return gaps[0]
	}
	rank := func(g *collectors.Gap) int {
		if i := slices.Index(promising, g.Reason); i >= 0 {
			return i
		}
		return -1 // a bug, or a stop: nothing else matters
	}
	best := slices.MinFunc(gaps, func(a, b *collectors.Gap) int { return rank(a) - rank(b) })
	out := &collectors.Gap{Reason: best.Reason, Remedy: best.Remedy}
	for i, g := range gaps {
		if i > 0 {
			out.Detail += "; "
		}
		out.Detail += g.Detail
	}
	return out
}
