package nodes

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed lease_stale.md
var leaseStaleDoc string

// LeaseStale looks for nodes whose kubelet has not renewed its lease.
var LeaseStale = &checks.Check{
	ID:        "node-lease-stale",
	Component: collectors.Nodes,
	Title:     "every kubelet renews its lease",
	Doc:       leaseStaleDoc,
	Needs:     append([]collectors.Any{nodes.Leases}, graceNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see when it was renewed last", Command: "kubectl -n kube-node-lease get lease {node} -o yaml", Risk: checks.ReadOnly},
		{Title: "on the node, see what its kubelet says", Command: "systemctl status kubelet; journalctl -u kubelet --since -10min | grep -i lease", Risk: checks.ReadOnly},
	},
	Run: leaseStale,
}

func leaseStale(p *checks.Pass) {
	limit := grace(p)
	h, gap := checks.One(p, nodes.Leases)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	if h.All == 0 {
		p.Nothing(nodes.All, "no node has a lease")
		return
	}
	late := h.Older(limit)
	var left string
	if h.Left > 0 {
		left = fmt.Sprintf("; %s left behind by nodes that are gone", checks.Count(h.Left, "lease"))
	}
	switch {
	case len(late) == 0 && len(h.Late) > 0:
		p.OK(nodes.All, "the oldest of %s was renewed %s ago%s", checks.Count(h.All, "lease"), checks.Span(h.Late[0].Age), left).
			Saw(nodes.Leases, h.Late[0].Node, checks.Span(h.Late[0].Age), checks.Span(limit), graceSource)
	case len(late) == 0:
		p.OK(nodes.All, "of %s none was renewed longer than 20s ago%s", checks.Count(h.All, "lease"), left).
			Saw(nodes.Leases, "older than 20s", "0", checks.Span(limit), graceSource)
	case len(late) > each:
		var some []string
		for _, b := range late {
			some = append(some, b.Node)
		}
		p.Warn(nodes.All, "%d of %s were not renewed for %s, the oldest for %s: %s", len(late), checks.Count(h.All, "lease"), checks.Span(limit), checks.Span(late[0].Age), checks.List(some, 3)).
			Saw(nodes.Leases, "stale", fmt.Sprint(len(late)), "0", graceSource).Number("nodes", float64(len(late)))
	default:
		for _, b := range late {
			p.Warn(target(b.Node), "its kubelet renewed its lease %s ago, after %s it counts as gone", checks.Span(b.Age), checks.Span(limit)).
				Saw(nodes.Leases, "age", checks.Span(b.Age), checks.Span(limit), graceSource).Number("age", b.Age.Seconds()).Mark("node=" + b.Node)
		}
	}
}
