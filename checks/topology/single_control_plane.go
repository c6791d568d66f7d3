package topology

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed single_control_plane.md
var singleControlPlaneDoc string

// SingleControlPlane tells whether one node is all there is.
var SingleControlPlane = &checks.Check{
	ID:        "ha-single-control-plane",
	Component: collectors.Topology,
	Title:     "the control plane is on more than one node",
	Doc:       singleControlPlaneDoc,
	Needs:     []collectors.Any{cluster.NodeSummary},
	Remedies: []checks.Remedy{
		{Title: "see the nodes of the control plane", Command: "kubectl get nodes -l node-role.kubernetes.io/control-plane", Risk: checks.ReadOnly},
	},
	Run: singleControlPlane,
}

func singleControlPlane(p *checks.Pass) {
	n, ok := own(p, target("nodes"))
	if !ok {
		return
	}
	s, words := checks.OK, "%s"
	switch len(n.ControlPlane) {
	case 1:
		s, words = checks.Info, "%s: with it the control plane is gone"
	case 2:
		s, words = checks.Info, "%s: etcd on two nodes stands the loss of neither"
	}
	p.Judge(target("nodes"), s, words, checks.Count(len(n.ControlPlane), "control-plane node")).
		Saw(cluster.NodeSummary, "control plane", checks.List(n.ControlPlane, 5), "3", "Kubernetes documentation, options for highly available topology")
}
