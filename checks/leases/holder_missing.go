package leases

import (
	_ "embed"
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
// back: it is no node of the control plane any more.
var HolderMissing = &checks.Check{
	ID:        "lease-holder-missing",
	Component: collectors.Leases,
	Title:     "the holders of the control plane's leases exist",
	Doc:       holderMissingDoc,
	Needs:     []collectors.Any{leases.Leases, cluster.NodeSummary},
	Remedies: []checks.Remedy{
		{Title: "see the nodes of the control plane", Command: "kubectl get nodes -l node-role.kubernetes.io/control-plane -o wide", Risk: checks.ReadOnly},
		{Title: "see which instances there are to take over", Command: "kubectl -n kube-system get pods -l component={obj} -o wide", Risk: checks.ReadOnly},
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
	some := false
	for _, l := range h.Leases {
		if !l.Core() || l.Holder == "" || stand(l, h.At) == undated {
			continue
		}
		some = true
		switch {
		case l.Fresh(h.At):
			// Who renews it exists, whatever the nodes are called.
			p.OK(l.Target(), "%s holds it and renewed it %s ago", l.Host(), ago(l.Age(h.At))).Saw(leases.Leases, "holder", l.Holder, "", "")
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
		p.Nothing(leases.All, "no component of the control plane has held a lease")
	}
}

// sameNode compares a node's name with a host's, of which either may be the
// short form.
func sameNode(node, host string) bool {
	return leases.Lease{Holder: host}.HeldBy(cluster.Instance{Node: node})
}
