package topology

import (
	_ "embed"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/topology"
)

//go:embed probe_failing.md
var probeFailingDoc string

// ProbeFailing looks for components whose probes fail, before the kubelet restarts them for it.
var ProbeFailing = &checks.Check{
	ID:        "static-pod-probe-failing",
	Component: collectors.Topology,
	Title:     "the kubelets' probes of the control plane succeed",
	Doc:       probeFailingDoc,
	Needs:     []collectors.Any{cluster.Instances, topology.Probes},
	Remedies: []checks.Remedy{
		{Title: "see all of it", Command: "kubectl -n kube-system get events --field-selector reason=Unhealthy --sort-by=.lastTimestamp", Risk: checks.ReadOnly},
		{Title: "see what it says itself", Command: "kubectl -n kube-system logs {obj} --since=10m --tail=100", Risk: checks.ReadOnly},
	},
	Run: probeFailing,
}

// recent is how long ago a failed probe may be for it to be going on. kubeadm's
// probes come every 10 seconds and restart after 8 failures in a row; an event of
// the same is written again at most every few minutes.
const (
	recent      = 5 * time.Minute
	probeSource = "kubeadm: liveness every 10 s, 8 failures in a row restart it"
)

func probeFailing(p *checks.Pass) {
	by, ok := pods(p, target("pods"))
	if !ok {
		return
	}
	events, gap := checks.One(p, topology.Probes)
	if gap != nil {
		p.Unknown(target("pods"), gap)
		return
	}
	n, bad := 0, 0
	for _, r := range []cluster.Role{cluster.RoleEtcd, cluster.RoleAPIServer, cluster.RoleControllers, cluster.RoleScheduler} {
		for _, i := range by[r] {
			n++
			for _, e := range events {
				age := p.Now().Sub(e.Last)
				if e.Pod != i.Pod || age > recent || strings.HasPrefix(e.Message, "Startup") || !i.Started.IsZero() && e.Last.Before(i.Started) {
					continue // of a container that is gone, or one that is only starting
				}
				bad++
				t := collectors.Target{Component: collectors.Topology, Name: "pod/" + i.Pod, Node: i.Node}
				p.Warn(t, "its probe failed %d times, %s ago the last: %s", e.Count, checks.Span(age), e.Message).
					Saw(topology.Probes, "failures", itoa(int(e.Count)), "8 in a row", probeSource)
				break
			}
		}
	}
	if bad == 0 {
		p.OK(target("pods"), "no probe of %s failed in the last %s", checks.Count(n, "pod"), checks.Span(recent))
	}
}
