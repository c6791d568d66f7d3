package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed active_backlog.md
var activeBacklogDoc string

// ActiveBacklog looks for a scheduler that does not keep up.
var ActiveBacklog = &checks.Check{
	ID:        "scheduler-active-queue-backlog",
	Component: collectors.Scheduler,
	Title:     "the queue of pods to place is short, or shrinks",
	Doc:       activeBacklogDoc,
	Needs:     []collectors.Any{scheduler.Pending, scheduler.Attempts, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see who makes so many pods", Command: "kubectl get pods -A --field-selector status.phase=Pending -o custom-columns=NS:.metadata.namespace --no-headers | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{activeWarnAt},
	Run:        activeBacklog,
}

// activeWarn pods are what a scheduler places within a second or two. It is
// experience, so it ends at a warning.
const activeWarn = 100

var activeWarnAt = checks.NewThreshold("warn", checks.InNumber, activeWarn, "pods that wait to be tried", "experience; no public source")

func activeBacklog(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, scheduler.Elected, scheduler.Pending) {
		rate := ""
		if n, gap := checks.Of(p, scheduler.Attempts, t); gap == nil {
			rate = fmt.Sprintf("; it tries %.1f/s", n.Rate(n.Total()))
		}
		now, before := q.Now.Active, q.Before.Active
		var v *checks.Verdict
		switch {
		case now <= p.At(activeWarnAt):
			v = p.OK(t, "%s next in its queue%s", areIs(now), rate)
		case q.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%s next in its queue; whether it grows is not known: %s", areIs(now), q.Broken))
			continue
		case before <= p.At(activeWarnAt) || now < before:
			v = p.OK(t, "%s next in its queue, and %.0f at the look before%s", areIs(now), before, rate)
		default:
			v = p.Warn(t, "%s next in its queue and it does not shrink (%.0f at the look before)%s", areIs(now), before, rate)
		}
		v.Saw(scheduler.Pending, "active", fmt.Sprint(now), fmt.Sprint(p.At(activeWarnAt)), errorsSource).Number("active", now)
	}
}
