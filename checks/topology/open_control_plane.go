package topology

import (
	_ "embed"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/topology"
)

//go:embed open_control_plane.md
var openControlPlaneDoc string

// OpenControlPlane tells whether ordinary pods may run beside the control plane.
var OpenControlPlane = &checks.Check{
	ID:        "ha-control-plane-untainted",
	Component: collectors.Topology,
	Title:     "ordinary pods are kept off the control plane's nodes",
	Doc:       openControlPlaneDoc,
	Needs:     []collectors.Any{cluster.NodeSummary, topology.Lodgers},
	Remedies: []checks.Remedy{
		{Title: "see which pods run there", Command: "kubectl get pods -A --field-selector spec.nodeName={obj}", Risk: checks.ReadOnly},
		{Title: "keep others away; what runs there stays", Command: "kubectl taint nodes {obj} node-role.kubernetes.io/control-plane:NoSchedule", Risk: checks.Disruptive},
	},
	Run: openControlPlane,
}

func openControlPlane(p *checks.Pass) {
	n, ok := own(p, target("taints"))
	if !ok {
		return
	}
	if len(n.ControlPlane) == n.Count {
		p.Nothing(target("taints"), "there are no other nodes for ordinary pods")
		return
	}
	g, gap := checks.One(p, topology.Lodgers)
	for _, name := range n.ControlPlane {
		t := collectors.Target{Component: collectors.Topology, Name: "node/" + name, Node: name}
		switch {
		case !slices.Contains(n.Open, name):
			p.OK(t, "a taint keeps ordinary pods away")
		case gap != nil:
			p.Unknown(t, gap)
		case g.On[name] > 0:
			p.Info(t, "no taint keeps ordinary pods away, and %s here: they compete with etcd for CPU and disk", runs(g.On[name])).
				Saw(topology.Lodgers, "example", g.Example, "", "")
		default:
			p.Info(t, "no taint keeps ordinary pods away; none run here now")
		}
	}
}

func runs(n int) string {
	if n == 1 {
		return "1 of them runs"
	}
	return itoa(n) + " of them run"
}
