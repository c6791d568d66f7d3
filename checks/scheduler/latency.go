package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed attempt_latency.md
var attemptLatencyDoc string

// AttemptLatency looks for attempts that take long.
var AttemptLatency = &checks.Check{
	ID:        "scheduler-attempt-latency",
	Component: collectors.Scheduler,
	Title:     "an attempt that places a pod takes less than a second",
	Doc:       attemptLatencyDoc,
	Needs:     []collectors.Any{scheduler.AttemptLatency, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which plugin takes the time, or whether it is the bind", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Trace|slow|throttling'", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { latency(p, scheduler.AttemptLatency, "attempt", attemptLimit) },
}

//go:embed pod_latency.md
var podLatencyDoc string

// PodLatency looks for pods that wait long for a scheduler that has room for
// them.
var PodLatency = &checks.Check{
	ID:        "scheduler-pod-sli-latency",
	Component: collectors.Scheduler,
	Title:     "a pod for which there is room has a node within 5 seconds",
	Doc:       podLatencyDoc,
	Needs:     []collectors.Any{scheduler.PodLatency, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see how long its queue is and how long an attempt takes", Command: "ktriage doctor --advice", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { latency(p, scheduler.PodLatency, "pod", podLimit) },
}

var (
	// attemptLimit leaves room for five attempts in what a pod may take to
	// start. It is experience.
	attemptLimit = checks.Limit{Seconds: 1, Share: 0.01, Status: checks.Warning, Source: "experience; a fifth of the pod startup SLO"}
	// podLimit is the whole of what a pod may take to start, of which placing
	// it is but the first part. Slow placement is no failure of the control
	// plane, so both end at a warning.
	podLimit = checks.Limit{Seconds: 5, Share: 0.01, Status: checks.Warning, Source: "sig-scalability SLO of pod startup"}
)

// several slow ones are needed, however few there are in all: one that waits
// for a volume is no trouble of the scheduler.
const several = 3

func latency(p *checks.Pass, f *collectors.Fact[metrics.Latency], what string, limit checks.Limit) {
	for t, l := range leases.EachLeader(p, scheduler.Elected, f) {
		v := checks.JudgeLatency(l, limit)
		if v.Status == checks.Unknown {
			p.Nothing(t, "placed no %s in the window", map[string]string{"attempt": "pod", "pod": "pod at the first attempt"}[what])
			continue
		}
		if v.Status.Bad() && v.Above < several {
			v.Status, v.TooFew = checks.OK, true
		}
		out := p.Judge(t, v.Status, "%s", v).
			Saw(f, "p99", checks.Quantile(v.P99), checks.Seconds(limit.Seconds), limit.Source).
			Saw(f, "above the limit", fmt.Sprintf("%.0f of %.0f", v.Above, v.Count), checks.Percent(limit.Share), "").
			Number("p99", v.P99.Value).Mark(string(v.Basis))
		if v.TooFew {
			out.TooFew()
		}
	}
}
