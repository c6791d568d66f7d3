package live

import (
	"context"
	"net/url"
	"slices"
	"time"

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

// noAnswer is how it ends to be given up early.
var noAnswer = []collectors.Reason{collectors.Timeout, collectors.NoPath, collectors.Unreachable}

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
	out := &collectors.Gap{Reason: best.Reason, Kind: best.Kind, Remedy: best.Remedy}
	for i, g := range gaps {
		if i > 0 {
			out.Detail += "; "
		}
		out.Detail += g.Detail
	}
	return out
}

// openFirst puts those ways first that are known to lead where they should:
// etcd that answers at its client port need not be asked through API server and
// kubelet.
func (s *Source) openFirst(ways []string) []string {
	var open, others []string
	for _, w := range ways {
		if s.isOpen(w) {
			open = append(open, w)
		} else {
			others = append(others, w)
		}
	}
	return append(open, others...)
}

// isOpen reports whether who is at the end of a way has answered, or a tunnel
// to it stands.
func (s *Source) isOpen(way string) bool {
	u, err := url.Parse(way)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "etcd":
		return s.breaker.isUp("etcd " + u.Host)
	case "pod+http", "pod+https":
		p, err := parsePod(u)
		return err == nil && (p.node != "" && p.node == s.config.NodeName || s.tunnels.to(p.pod()).isOpen())
	}
	return false
}

// ask asks one way, and waits that long for an answer to begin.
type ask func(way string, within time.Duration) (*collectors.Reply, *collectors.Gap)

// inTurn asks the ways in turn, until one answers. A way with others behind it
// is waited for less than the whole time, since to give it up costs nothing
// yet. If the others lead nowhere at once, what is left of the time goes to the
// first that was given up early.
func inTurn(ctx context.Context, ways []string, whole, short time.Duration, ask ask) (reply *collectors.Reply, way string, gap *collectors.Gap) {
	var gaps []*collectors.Gap
	early := -1 // the first that was given up early
	var since time.Time
	for i, way := range ways {
		within := whole
		if i < len(ways)-1 {
			within = short
		}
		began := time.Now()
		reply, gap := ask(way, within)
		if gap == nil {
			return reply, way, nil
		}
		gaps = append(gaps, gap)
		if ctx.Err() != nil || !worthAnother(gap) {
			return nil, "", joinGaps(gaps...)
		}
		if early < 0 && within == short && time.Since(began) >= short && slices.Contains(noAnswer, gap.Reason) {
			early, since = i, time.Now()
		}
	}
	if early >= 0 && time.Since(since) < short {
		reply, gap := ask(ways[early], whole-short)
		if gap == nil {
			return reply, ways[early], nil
		}
		gaps[early] = gap
	}
	return nil, "", joinGaps(gaps...)
}
