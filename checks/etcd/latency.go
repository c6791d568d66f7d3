package etcd

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A judged is a latency with its verdict.
type judged struct {
	metrics.Latency
	checks.LatencyVerdict
	Thin bool // more observations could show trouble, not only advice
}

func judge(l metrics.Latency, limits []checks.Limit) judged {
	j := judged{Latency: l, LatencyVerdict: checks.JudgeLatency(l, limits...)}
	if j.TooFew {
		var bad []checks.Limit
		for _, x := range limits {
			if x.Status.Bad() {
				bad = append(bad, x)
			}
		}
		j.Thin = checks.JudgeLatency(l, bad...).TooFew
	}
	return j
}

// String tells how long it took: "p99 3.1 ms in 10 s: 0 of 412 took over 16 ms".
func (j judged) String() string {
	s := fmt.Sprintf("p99 %s %s: %.0f of %.0f took over %s", checks.Quantile(j.P99), j.during(), j.Above, j.Count, checks.Seconds(j.Edge))
	if j.Thin && !j.Status.Bad() {
		s += ", too few to tell whether it is worse"
	}
	return s
}

// during says what time the verdict is about: "in 10 s", "since the start, 3d ago".
func (j judged) during() string {
	switch {
	case j.Basis == checks.OverWindow && j.Elapsed > 0:
		return "in " + checks.Seconds(j.Elapsed.Seconds())
	case j.Uptime > 0:
		return "since the start, " + checks.Span(j.Uptime) + " ago"
	}
	return "since the start"
}

// evidence gives a finding what the verdict rests on.
func (j judged) evidence(v *checks.Verdict, f collectors.Any) {
	v.Saw(f, "p99", checks.Quantile(j.P99), checks.Seconds(j.Limit.Seconds), j.Limit.Source).
		Saw(f, "above "+checks.Seconds(j.Edge), fmt.Sprintf("%.0f of %.0f", j.Above, j.Count), checks.Percent(j.Limit.Share), j.Limit.Source).
		Number("p99", j.P99.Value)
	if j.Thin {
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
	loose   bool // how many voters there are is not known
}

// newWritePath holds a latency of every member that answered against limits.
func newWritePath(p *checks.Pass, f *collectors.Fact[metrics.Latency], limits []checks.Limit) *writePath {
	w := &writePath{leader: map[string]bool{}, learner: map[string]bool{}}
	if m, gap := checks.One(p, etcd.Members); gap == nil {
		w.voters, w.loose = m.Voters(), m.Loose
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
	answers, _ := checks.All(p, f)
	for _, a := range answers {
		if a.Gap == nil {
			w.see(a.Target, judge(a.Value, limits).Status.Bad())
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
	return w.leader[m.Name] || !w.loose && w.voters-len(w.slow) < w.voters/2+1
}

func (w *writePath) note(m collectors.Target) string {
	switch {
	case w.learner[m.Name]:
		return "; as a learner it does not slow writes"
	case w.leader[m.Name]:
		return "; it is the leader: every write waits for it"
	case w.loose:
		return "; whether writes wait for it is not known"
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
