package controllers

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed restarts.md
var restartsDoc string

// Restarts looks for controller managers that restarted of late.
var Restarts = &checks.Check{
	ID:        "kcm-restarts",
	Component: collectors.Controllers,
	Title:     "no controller manager has restarted of late",
	Doc:       restartsDoc,
	Needs:     []collectors.Any{controllers.Elected.Instances, leases.Leases},
	Remedies: []checks.Remedy{
		{Title: "read how the container before ended", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --previous --tail=50", Risk: checks.ReadOnly},
	},
	Run: restarts,
}

// restartRecent is how long after a restart it is worth a warning.
// Source: kubernetes-mixin, KubePodCrashLooping, which looks at 10 minutes.
const (
	restartRecent = 10 * time.Minute
	restartSource = "kubernetes-mixin KubePodCrashLooping"
)

func restarts(p *checks.Pass) {
	held, gap := checks.One(p, leases.Leases)
	now := p.Now()
	if gap == nil {
		now = held.At // the API server's clock; the difference only matters around the limit
	}
	for t, i := range checks.Each(p, controllers.Elected.Instances) {
		last := ""
		if i.LastExit != "" {
			last = ", ended last with " + i.LastExit
		}
		n := checks.Count(i.Restarts, "restart")
		var v *checks.Verdict
		switch {
		case i.Waiting == "CrashLoopBackOff":
			// What that means for the component is for kcm-down to say.
			v = p.Warn(t, "restarts again and again (%s%s)", n, last)
		case i.Restarts > 0 && !i.Started.IsZero() && now.Sub(i.Started) < restartRecent:
			v = p.Warn(t, "restarted %s ago (%s%s)", checks.Span(max(0, now.Sub(i.Started))), n, last)
		case i.MadeUp:
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "the evidence does not hold its pod"))
			continue
		case i.Started.IsZero():
			p.Nothing(t, "no container runs (%s%s)", n, last)
			continue
		default:
			v = p.OK(t, "has run for %s (%s%s)", checks.Span(max(0, now.Sub(i.Started))), n, last)
		}
		v.Saw(controllers.Elected.Instances, "restarts", fmt.Sprint(i.Restarts), "", "")
		if !i.Started.IsZero() {
			v.Saw(controllers.Elected.Instances, "started", i.Started.UTC().Format(time.RFC3339), checks.Span(restartRecent), restartSource)
		}
		if i.LastExit != "" {
			v.Saw(controllers.Elected.Instances, "last exit", i.LastExit, "", "").Mark("exit=" + i.LastExit)
		}
	}
}
