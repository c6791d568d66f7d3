package apiserver

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed restarting.md
var restartingDoc string

// Restarting looks for instances that restarted lately or keep on crashing.
var Restarting = &checks.Check{
	ID:        "apiserver-restarting",
	Component: collectors.APIServer,
	Title:     "API servers stay up",
	Doc:       restartingDoc,
	Needs:     []collectors.Any{apiserver.Instances, apiserver.Processes, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "read what the container said before it ended", Command: "kubectl -n kube-system logs kube-apiserver-{node} --previous --tail 50", Risk: checks.ReadOnly},
		{Title: "on its node, see the kubelet's reason", Command: "journalctl -u kubelet -n 500 | grep -iE 'apiserver|liveness'; crictl ps -a --name kube-apiserver", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{restartedWithinAt},
	Run:        restarting,
}

const (
	// RULES.md counts restarts an hour, which one look does not show.
	restartedWithin = 10 * time.Minute
	restartSource   = "kubernetes-mixin KubePodCrashLooping"
	crashLoop       = "CrashLoopBackOff"
)

var restartedWithinAt = checks.NewThreshold("within", checks.InSeconds, checks.Secs(restartedWithin), "since the process started", restartSource)

func restarting(p *checks.Pass) {
	fleet, _ := checks.One(p, apiserver.Instances)
	skew, _ := checks.One(p, cluster.Clock)
	now := p.Now().Add(skew) // pods tell times by the cluster's clock
	pods, running := 0, 0
	for _, i := range fleet.Known {
		if i.Pod.Pod != "" {
			pods++
			if i.Pod.Waiting == "" {
				running++
			}
		}
	}
	if pods == 0 {
		byProcess(p)
		return
	}
	for _, i := range fleet.Known {
		if i.Pod.Pod == "" {
			continue
		}
		t, pod := target(i), i.Pod
		up := now.Sub(pod.Started)
		switch {
		case pod.Waiting == crashLoop && running == 0:
			p.Critical(t, "keeps crashing: %s%s, and no other instance runs", checks.Count(pod.Restarts, "restart"), last(pod)).
				Saw(apiserver.Instances, "waiting", pod.Waiting, "running", restartSource).Mark("crash-loop")
		case pod.Waiting == crashLoop:
			p.Warn(t, "keeps crashing: %s%s", checks.Count(pod.Restarts, "restart"), last(pod)).
				Saw(apiserver.Instances, "waiting", pod.Waiting, "running", restartSource).Mark("crash-loop")
		case pod.Started.IsZero() && pod.Waiting != "":
			p.Warn(t, "its container does not run: %s", pod.Waiting).Saw(apiserver.Instances, "waiting", pod.Waiting, "running", restartSource)
		case pod.Started.IsZero():
			p.Unknown(t, collectors.Gapf(collectors.Absent, "its pod does not say since when its container runs"))
		case pod.Restarts > 0 && up < p.Span(restartedWithinAt):
			p.Warn(t, "restarted %s ago, %s in all%s", checks.Span(up), checks.Count(pod.Restarts, "restart"), last(pod)).
				Saw(apiserver.Instances, "running for", checks.Span(up), checks.Span(p.Span(restartedWithinAt)), restartSource).
				Number("uptime", up.Seconds()).Number("restarts", float64(pod.Restarts))
		default:
			p.OK(t, "runs for %s, %s in all%s", checks.Span(up), checks.Count(pod.Restarts, "restart"), last(pod)).
				Number("uptime", up.Seconds()).Number("restarts", float64(pod.Restarts))
		}
	}
}

// byProcess judges by the processes' own start where no pods are to be seen. It
// does not tell a restart from a planned one, so it only ever gives advice.
func byProcess(p *checks.Pass) {
	for t, x := range checks.Each(p, apiserver.Processes) {
		if x.Uptime < p.Span(restartedWithinAt) {
			p.Info(t, "started %s ago; its pod is not to be seen, so why is not known", checks.Span(x.Uptime)).Number("uptime", x.Uptime.Seconds())
			continue
		}
		p.OK(t, "runs for %s", checks.Span(x.Uptime)).Number("uptime", x.Uptime.Seconds())
	}
}

// last says how the container before this one ended, if there was one.
func last(pod cluster.Instance) string {
	if pod.LastExit == "" {
		return ""
	}
	return ", the last by " + pod.LastExit
}
