package leases

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed holder_missing.md
var holderMissingDoc string

// HolderMissing looks for leases that ran out and whose holder will not come
// back: its node is none of the control plane any more, its pod is gone.
var HolderMissing = &checks.Check{
	ID:        "lease-holder-missing",
	Component: collectors.Leases,
	Title:     "who held a lease last still exists",
	Doc:       holderMissingDoc,
	Needs:     []collectors.Any{leases.Leases, cluster.NodeSummary, leases.Where},
	Remedies: []checks.Remedy{
		{Title: "see which pods there are to take over, and where", Command: "kubectl -n {ns} get pods -o wide", Risk: checks.ReadOnly},
		{Title: "see the nodes of the control plane", Command: "kubectl get nodes -l node-role.kubernetes.io/control-plane -o wide", Risk: checks.ReadOnly},
	},
	Run: holderMissing,
}

func holderMissing(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	nodes, nodesGap := checks.One(p, cluster.NodeSummary)
	homes, homesGap := checks.One(p, leases.Where)
	some := false
	for _, l := range h.Leases {
		if l.Holder == "" || stand(l, h.At) == undated {
			continue
		}
		some = true
		switch {
		case l.Fresh(h.At):
			// Who renews it exists, whatever the nodes are called.
			p.OK(l.Target(), "%s holds it and renewed it %s ago", l.Host(), ago(l.Age(h.At))).Saw(leases.Leases, "holder", l.Holder, "", "")
		case !l.Core() && homesGap != nil:
			p.Unknown(l.Target(), homesGap)
		case !l.Core():
			podMissing(p, h, l, homes.Of(l))
		case nodesGap != nil:
			p.Unknown(l.Target(), nodesGap)
		case len(nodes.ControlPlane) == 0:
			p.Nothing(l.Target(), "the nodes of the control plane are not part of this cluster")
		case slices.ContainsFunc(nodes.ControlPlane, func(n string) bool { return sameNode(n, l.Host()) }):
			p.OK(l.Target(), "%s held it last, a node of the control plane", l.Host()).Saw(leases.Leases, "holder", l.Holder, "", "")
		default:
			p.Warn(l.Target(), "%s held it last and is no node of the control plane (%s)", l.Host(), checks.List(nodes.ControlPlane, 3)).
				Saw(leases.Leases, "holder", l.Holder, "", "").
				Saw(cluster.NodeSummary, "control plane", strings.Join(nodes.ControlPlane, ", "), "", "").
				Mark("component=" + l.Name)
		}
	}
	if !some {
		p.Nothing(leases.All, "nobody has held a lease in this cluster")
	}
}

// podMissing judges the lease of an operator, which ran out.
func podMissing(p *checks.Pass, h leases.Held, l leases.Lease, home leases.Home) {
	age := ago(l.Age(h.At))
	var v *checks.Verdict
	switch {
	case home.Node != "":
		v = p.OK(l.Target(), "%s held it last, a node that is there; it was renewed %s ago", home.Node, age)
	case home.Works:
		v = p.OK(l.Target(), "the pod %s held it last and is ready; it was renewed %s ago", home.Pod, age)
	case home.Pod != "":
		v = p.OK(l.Target(), "the pod %s held it last and is there, not ready; it was renewed %s ago", home.Pod, age)
	case !home.Gone:
		p.Nothing(l.Target(), "its holder %s is named after no pod and no node", l.Host())
		return
	case home.Kin > 0 && stand(l, h.At) != lost:
		v = p.OK(l.Target(), "a pod of %s held it last and is gone; %s, and may take it any moment", home.Of, others(home.Kin))
	case home.Kin > 0 && l.Age(h.At) <= abandoned:
		v = p.Warn(l.Target(), "a pod of %s held it last and is gone; %s, and nobody has taken it for %s", home.Of, others(home.Kin), age)
	case home.Kin > 0:
		// By now it is more likely that they elect by another lease, or not at all.
		v = p.Info(l.Target(), "a pod of %s held it last, %s ago, and is gone; %s, and nobody elects a leader by it", home.Of, age, others(home.Kin))
	default:
		v = p.Info(l.Target(), "a pod of %s held it last, %s ago, and is gone; no other of it is ready in %s", home.Of, age, l.Namespace)
	}
	v.Saw(leases.Leases, "holder", l.Holder, "", "").Number("kin", float64(home.Kin))
}

func others(n int) string {
	if n == 1 {
		return "1 other is ready"
	}
	return fmt.Sprintf("%d others are ready", n)
}

// sameNode compares a node's name with a host's, of which either may be the
// short form.
func sameNode(node, host string) bool {
	return leases.Lease{Holder: host}.HeldBy(cluster.Instance{Node: node})
}
