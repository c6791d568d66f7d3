package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed preemption_storm.md
var preemptionStormDoc string

// PreemptionStorm looks for a scheduler that makes room all the time.
var PreemptionStorm = &checks.Check{
	ID:        "scheduler-preemption-storm",
	Component: collectors.Scheduler,
	Title:     "pods are seldom evicted to make room for others",
	Doc:       preemptionStormDoc,
	Needs:     []collectors.Any{scheduler.Tallies, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see who is evicted for whom", Command: "kubectl get events -A --field-selector reason=Preempted", Risk: checks.ReadOnly},
		{Title: "see the priorities", Command: "kubectl get priorityclasses", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{stormRateAt},
	Run:        preemptionStorm,
}

// stormRate, attempts a second, is experience.
const stormRate = 1.0

var stormRateAt = checks.NewThreshold("warn", checks.InRate, stormRate, "attempts to preempt", "experience; no public source")

func preemptionStorm(p *checks.Pass) {
	for t, n := range leases.EachLeader(p, scheduler.Elected, scheduler.Tallies) {
		switch {
		case !n.Served:
			p.Nothing(t, "it has not tried to make room yet")
			continue
		case n.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "attempts to make room cannot be counted: %s", n.Broken))
			continue
		}
		s, rate := checks.OK, n.Preemptions/n.Elapsed.Seconds()
		if rate > p.At(stormRateAt) {
			s = checks.Warning
		}
		p.Judge(t, s, "tried %.0f times in %s to make room by preemption", n.Preemptions, checks.Span(n.Elapsed)).
			Saw(scheduler.Tallies, "attempts a second", fmt.Sprintf("%.2g", rate), fmt.Sprint(p.At(stormRateAt)), errorsSource).Number("rate", rate)
	}
}
