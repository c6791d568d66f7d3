package topology

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed colocated_zone.md
var colocatedZoneDoc string

// ColocatedZone tells whether one zone holds all.
var ColocatedZone = &checks.Check{
	ID:        "ha-colocated-zone",
	Component: collectors.Topology,
	Title:     "the control plane's nodes are in several zones",
	Doc:       colocatedZoneDoc,
	Needs:     []collectors.Any{cluster.NodeSummary},
	Remedies: []checks.Remedy{
		{Title: "see the zones", Command: "kubectl get nodes -l node-role.kubernetes.io/control-plane -L topology.kubernetes.io/zone", Risk: checks.ReadOnly},
	},
	Run: colocatedZone,
}

func colocatedZone(p *checks.Pass) {
	n, ok := own(p, target("zones"))
	if !ok {
		return
	}
	if len(n.ControlPlane) == 1 {
		p.Nothing(target("zones"), "there is one node: ha-single-control-plane says so")
		return
	}
	by := map[string]int{}
	for _, node := range n.ControlPlane {
		by[n.Zones[node]]++
	}
	zones := slices.Sorted(maps.Keys(by))
	nodes := checks.Count(len(n.ControlPlane), "control-plane node")
	switch {
	case by[""] > 0:
		p.Nothing(target("zones"), "%d of %s have no label topology.kubernetes.io/zone", by[""], nodes)
	case len(zones) == 1:
		p.Info(target("zones"), "%s are all in zone %s: with it the control plane is gone", nodes, zones[0]).
			Saw(cluster.NodeSummary, "zones", checks.List(zones, 5), "3", "good practice: one a zone")
	case most(by)*2 > len(n.ControlPlane):
		p.Info(target("zones"), "%d of %s are in one zone: with it etcd has no majority", most(by), nodes).
			Saw(cluster.NodeSummary, "zones", checks.List(zones, 5), "3", "good practice: one a zone")
	default:
		p.OK(target("zones"), "%s in %s", nodes, checks.Count(len(zones), "zone")).
			Saw(cluster.NodeSummary, "zones", checks.List(zones, 5), "3", "good practice: one a zone")
	}
}

func most(by map[string]int) int { return slices.Max(slices.Collect(maps.Values(by))) }
