package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed throughput_zero.md
var throughputZeroDoc string

// ThroughputZero looks for a scheduler that leads, has pods to place and tries
// none.
var ThroughputZero = &checks.Check{
	ID:        "scheduler-throughput-zero",
	Component: collectors.Scheduler,
	Title:     "the scheduler that leads tries the pods that are next",
	Doc:       throughputZeroDoc,
	Needs:     []collectors.Any{scheduler.Pending, scheduler.Attempts, scheduler.Elected.Leads, pods.Pending},
	Remedies: []checks.Remedy{
		{Title: "see what it does", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=100", Risk: checks.ReadOnly},
		{Title: "on the node, end its container: another instance takes over, and the kubelet starts it again", Command: "crictl stop $(crictl ps -q --name kube-scheduler)", Risk: checks.Disruptive, Recipe: "restart-leader"},
	},
	Run: throughputZero,
}

func throughputZero(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, scheduler.Elected, scheduler.Pending) {
		n, gap := checks.Of(p, scheduler.Attempts, t)
		switch {
		case gap != nil:
			p.Unknown(t, gap)
			continue
		case q.Now.Active == 0 || q.Before.Active == 0 || n.Total() > 0:
			p.OK(t, "tried to place a pod %.0f times in %s; %s next", n.Total(), checks.Span(n.Elapsed), areIs(q.Now.Active)).
				Saw(scheduler.Attempts, "attempts", fmt.Sprint(n.Total()), "", "")
			continue
		}
		// That it tries none for a whole window is experience; that pods wait at
		// which nobody has looked is seen apart from it.
		status := checks.Warning
		c, gap := checks.One(p, pods.Pending)
		ignored := 0
		if gap == nil {
			ignored = c.Sum(pods.Ignored).Past30s
		}
		why := ""
		if ignored > 0 {
			status = checks.Critical
			why = fmt.Sprintf("; at %s nobody has looked for 30s", checks.Count(ignored, "pending pod"))
		}
		p.Judge(t, status, "leads, and tried no pod in %s though %s next%s", checks.Span(n.Elapsed), areIs(q.Now.Active), why).
			Saw(scheduler.Pending, "active", fmt.Sprint(q.Now.Active), "0", "").
			Saw(scheduler.Attempts, "attempts", "0", "1", "experience; no public source").
			Number("active", q.Now.Active)
	}
}

func areIs(n float64) string {
	switch n {
	case 0:
		return "none is"
	case 1:
		return "1 is"
	}
	return fmt.Sprintf("%.0f are", n)
}
