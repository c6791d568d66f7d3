// Package topology holds the checks on how a control plane is laid out. Most of
// what they say is advice: nothing is wrong now, and one failure would be too
// many. Each check is one file, with its page beside it and its cases below
// testdata.
package topology

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// All lists the checks of this package.
var All = []*checks.Check{
	SingleControlPlane,
	ComponentReplicas,
	ColocatedZone,
	FlagDrift,
	EndpointsMismatch,
	VersionSkew,
	VersionKnownBad,
	ExternalEndpoint,
	OpenControlPlane,
	BackupUnseen,
	StaticPodMissing,
	StaticPodQoS,
	ProbeFailing,
}

// own returns the nodes of the control plane. It reports why there is nothing to
// judge, where there is not.
func own(p *checks.Pass, t collectors.Target) (cluster.Nodes, bool) {
	n, gap := checks.One(p, cluster.NodeSummary)
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case len(n.ControlPlane) == 0:
		p.Nothing(t, "no node has the role of the control plane: it is run by somebody else, or outside of the cluster")
	default:
		return n, true
	}
	return n, false
}

// target is one thing about the layout.
func target(name string) collectors.Target {
	return collectors.Target{Component: collectors.Topology, Name: name}
}

// pods returns the control plane's pods, by role. It reports why there is
// nothing to judge, where there is not.
func pods(p *checks.Pass, t collectors.Target) (map[cluster.Role][]cluster.Instance, bool) {
	all, gap := checks.One(p, cluster.Instances)
	if gap != nil {
		p.Unknown(t, gap)
		return nil, false
	}
	out := map[cluster.Role][]cluster.Instance{}
	for _, i := range all {
		if i.MadeUp {
			continue
		}
		out[i.Role] = append(out[i.Role], i)
	}
	if len(out) == 0 {
		p.Nothing(t, "no pod of the control plane is to be seen")
		return nil, false
	}
	return out, true
}
