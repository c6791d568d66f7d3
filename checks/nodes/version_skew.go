package nodes

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed version_skew.md
var versionSkewDoc string

// VersionSkew looks for kubelets that are too old for the API server, or newer.
var VersionSkew = &checks.Check{
	ID:        "node-version-skew",
	Component: collectors.Nodes,
	Title:     "kubelets have a version that the API server supports",
	Doc:       versionSkewDoc,
	Needs:     []collectors.Any{nodes.Conditions, cluster.Version},
	Remedies: []checks.Remedy{
		{Title: "list the nodes' versions", Command: "kubectl get nodes --sort-by=.status.nodeInfo.kubeletVersion", Risk: checks.ReadOnly},
	},
	Run: versionSkew,
}

// Kubelets may be three minor versions older than the API server, two before
// 1.28, and never newer. Source: Kubernetes' version skew policy.
const (
	skewMost       = 3
	skewMostBefore = 2
	skewSource     = "Kubernetes version skew policy"
)

func versionSkew(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	api, gap := checks.One(p, cluster.Version)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	most := skewMost
	if api.Minor < 28 {
		most = skewMostBefore
	}
	type group struct {
		nodes.Kubelet
		version string
		older   int
	}
	var known []group
	var unread int
	for _, v := range slices.Sorted(maps.Keys(h.Kubelets)) {
		r, err := cluster.ParseRelease(v)
		if err != nil || r.Major != api.Major {
			unread += h.Kubelets[v].Nodes
			continue
		}
		known = append(known, group{h.Kubelets[v], v, api.Minor - r.Minor})
	}
	if len(known) == 0 {
		p.Unknown(nodes.All, collectors.Gapf(collectors.Absent, "of %s none says the version of its kubelet", checks.Count(h.All, "node")))
		return
	}
	oldest := slices.MaxFunc(known, func(a, b group) int { return cmp.Compare(a.older, b.older) })
	newest := slices.MinFunc(known, func(a, b group) int { return cmp.Compare(a.older, b.older) })
	var v *checks.Verdict
	switch {
	case newest.older < 0:
		v = p.Warn(nodes.All, "%s with kubelet %s, newer than the API server's %s, which is not supported (%s)", checks.Count(newest.Nodes, "node"), newest.version, api.Git, newest.Example)
	case oldest.older > most:
		v = p.Warn(nodes.All, "%s with kubelet %s, %d minor versions older than the API server's %s, of at most %d (%s)", checks.Count(oldest.Nodes, "node"), oldest.version, oldest.older, api.Git, most, oldest.Example)
	case oldest.older == most:
		v = p.Info(nodes.All, "%s with kubelet %s, %d minor versions older than the API server's %s: at the limit, they have to follow before the next upgrade (%s)", checks.Count(oldest.Nodes, "node"), oldest.version, oldest.older, api.Git, oldest.Example)
	default:
		v = p.OK(nodes.All, "kubelets are at most %s older than the API server's %s", checks.Count(oldest.older, "minor version"), api.Git)
	}
	v.Saw(nodes.Conditions, "oldest kubelet", oldest.version, fmt.Sprintf("%d minor versions", most), skewSource)
}
