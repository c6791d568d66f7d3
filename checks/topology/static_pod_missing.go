package topology

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed static_pod_missing.md
var staticPodMissingDoc string

// StaticPodMissing looks for nodes of the control plane that lack a component which others run.
var StaticPodMissing = &checks.Check{
	ID:        "static-pod-missing",
	Component: collectors.Topology,
	Title:     "every node of the control plane runs all of it",
	Doc:       staticPodMissingDoc,
	Needs:     []collectors.Any{cluster.NodeSummary, cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "on the node, see whether the kubelet can read its manifests", Command: "journalctl -u kubelet --since -10min | grep -iE 'manifest|static pod|could not process'", Risk: checks.ReadOnly},
		{Title: "on the node, see what is there", Command: "ls -l /etc/kubernetes/manifests", Risk: checks.ReadOnly},
	},
	Run: staticPodMissing,
}

func staticPodMissing(p *checks.Pass) {
	n, ok := own(p, target("static-pods"))
	if !ok {
		return
	}
	by, ok := pods(p, target("static-pods"))
	if !ok {
		return
	}
	for _, node := range n.ControlPlane {
		t := collectors.Target{Component: collectors.Topology, Name: "node/" + node, Node: node}
		var missing, there []string
		for _, r := range []cluster.Role{cluster.RoleEtcd, cluster.RoleAPIServer, cluster.RoleControllers, cluster.RoleScheduler} {
			on := func(i cluster.Instance) bool { return i.Node == node }
			switch {
			case slices.ContainsFunc(by[r], on):
				there = append(there, string(r))
			case slices.ContainsFunc(by[r], func(i cluster.Instance) bool { return i.Static && slices.Contains(n.ControlPlane, i.Node) }):
				missing = append(missing, string(r))
			}
		}
		switch {
		case len(missing) > 0:
			p.Info(t, "it runs no %s, and other control-plane nodes do", strings.Join(missing, ", no ")).
				Saw(cluster.Instances, node, strings.Join(there, ", "), strings.Join(missing, ", "), "")
		default:
			p.OK(t, "it runs %s", strings.Join(there, ", "))
		}
	}
}
