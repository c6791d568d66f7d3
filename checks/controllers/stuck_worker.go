package controllers

import (
	"cmp"
	_ "embed"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed stuck_worker.md
var stuckWorkerDoc string

// StuckWorker looks for workers that do not get done with one object.
var StuckWorker = &checks.Check{
	ID:        "kcm-stuck-worker",
	Component: collectors.Controllers,
	Title:     "no controller's worker is at one object for a minute",
	Doc:       stuckWorkerDoc,
	Needs:     []collectors.Any{controllers.WorkQueues, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see what it was at last", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=500", Risk: checks.ReadOnly},
		{Title: "on the node, end its container: another instance takes over, and the kubelet starts it again", Command: "crictl stop $(crictl ps -q --name kube-controller-manager)", Risk: checks.Disruptive, Recipe: "restart-leader"},
	},
	Run: stuckWorker,
}

const (
	// stuckWarn is far beyond what one object takes, and beyond all timeouts of
	// requests to the API server but the one of a minute. It is experience, so
	// it ends at a warning.
	stuckWarn = time.Minute
	// stuckGrowth is how much of the window the age must have grown by: a
	// worker that got done in between and began anew is not stuck.
	stuckGrowth = 0.8
)

func stuckWorker(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, controllers.Elected, controllers.WorkQueues) {
		slow := slices.DeleteFunc(slices.Clone(q.By), func(x controllers.Queue) bool { return x.Longest <= stuckWarn })
		slices.SortFunc(slow, func(a, b controllers.Queue) int { return cmp.Compare(b.Longest, a.Longest) })
		if len(slow) == 0 {
			x := slices.MaxFunc(q.By, func(a, b controllers.Queue) int { return cmp.Compare(a.Longest, b.Longest) })
			p.OK(t, "no worker of %s is at one object for longer than %s", checks.Count(len(q.By), "queue"), checks.Seconds(x.Longest.Seconds())).
				Saw(controllers.WorkQueues, "longest running, of "+x.Name, checks.Seconds(x.Longest.Seconds()), checks.Span(stuckWarn), expertLimit)
			continue
		}
		if q.Broken != "" {
			p.Unknown(t, collectors.Gapf(collectors.Absent, "a worker of %s is at one object for %s, and whether it gets done is not known: %s", slow[0].Name, checks.Span(slow[0].Longest), q.Broken))
			continue
		}
		stuck := slices.DeleteFunc(slices.Clone(slow), func(x controllers.Queue) bool {
			return float64(x.Longest-x.LongestBefore) < stuckGrowth*float64(q.Elapsed)
		})
		if len(stuck) == 0 {
			p.OK(t, "a worker of %s was at one object for %s, and got done", slow[0].Name, checks.Span(slow[0].Longest))
			continue
		}
		x := stuck[0]
		v := p.Warn(t, "a worker of controller %s is at one object for %s and does not get done%s", x.Name, checks.Span(x.Longest), andOthers(stuck[1:])).
			Number("longest", x.Longest.Seconds())
		for _, x := range stuck {
			v.Saw(controllers.WorkQueues, "longest running, of "+x.Name, checks.Span(x.Longest), checks.Span(stuckWarn), expertLimit).Mark("queue=" + x.Name)
		}
	}
}
