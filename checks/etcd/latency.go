package etcd

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// p99 writes the quantile: "p99 3.1 ms".
func p99(v checks.LatencyVerdict) string { return "p99 " + checks.Quantile(v.P99) }

// unsure adds that there was too little to judge, to a verdict that is no
// trouble only for that.
func unsure(v checks.LatencyVerdict) string {
	if v.TooFew && !v.Status.Bad() {
		return ", too few to judge"
	}
	return ""
}

// during says what time a verdict is about: "in 10 s", "since the start, 3d ago".
func during(l metrics.Latency, v checks.LatencyVerdict) string {
	switch {
	case v.Basis == checks.OverWindow && l.Elapsed > 0:
		return "in " + checks.Seconds(l.Elapsed.Seconds())
	case l.Uptime > 0:
		return "since the start, " + checks.Span(l.Uptime) + " ago"
	}
	return "since the start"
}

// seeLatency gives a verdict its evidence.
func seeLatency(v *checks.Verdict, f collectors.Any, j checks.LatencyVerdict) {
	v.Saw(f, "p99", checks.Quantile(j.P99), checks.Seconds(j.Limit.Seconds), j.Limit.Source).
		Saw(f, "above "+checks.Seconds(j.Edge), fmt.Sprintf("%.0f of %.0f", j.Above, j.Count), checks.Percent(j.Limit.Share), j.Limit.Source).
		Number("p99", j.P99.Value)
	if j.TooFew {
		v.TooFew()
	}
}

// A writePath tells which slow members hold up the cluster's writes: the
// leader, as it handles every write, and followers only where so many are slow
// that no majority is left without them.
type writePath struct {
	leader  map[string]bool
	learner map[string]bool
	slow    []string
	fast    int
	voters  int
}

func newWritePath(p *checks.Pass) *writePath {
	w := &writePath{leader: map[string]bool{}, learner: map[string]bool{}}
	if m, gap := checks.One(p, etcd.Members); gap == nil {
		w.voters = m.Voters()
		for _, x := range m.Members {
			w.learner[x.Name] = x.Learner
		}
	}
	servers, _ := checks.All(p, etcd.ServerMetrics)
	for _, a := range servers {
		if a.Gap != nil {
			continue
		}
		w.leader[a.Target.Name] = a.Value.IsLeader
		if a.Value.Learner && !w.learner[a.Target.Name] {
			w.learner[a.Target.Name] = true
			w.voters--
		}
	}
	return w
}

// see takes in what was judged of one member.
func (w *writePath) see(m collectors.Target, slow bool) {
	switch {
	case w.learner[m.Name]:
	case slow:
		w.slow = append(w.slow, m.Name)
	default:
		w.fast++
	}
}

// on reports whether writes wait for a slow member. Members that did not
// answer may be fast: they get the benefit of the doubt.
func (w *writePath) on(m collectors.Target) bool {
	if !slices.Contains(w.slow, m.Name) {
		return false
	}
	return w.leader[m.Name] || w.voters-len(w.slow) < w.voters/2+1
}

func (w *writePath) note(m collectors.Target) string {
	switch {
	case w.learner[m.Name]:
		return "; as a learner it does not slow writes"
	case w.leader[m.Name]:
		return "; it is the leader: every write waits for it"
	case w.on(m):
		return fmt.Sprintf("; with %d of %d voters slow, writes wait", len(w.slow), w.voters)
	}
	return "; writes do not wait for it, as a majority is faster"
}

func (w *writePath) mark(v *checks.Verdict, m collectors.Target) {
	if w.leader[m.Name] {
		v.Mark("leader")
	}
	if w.on(m) {
		v.Mark("write-path")
	}
}
