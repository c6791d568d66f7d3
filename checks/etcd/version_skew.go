package etcd

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed version_skew.md
var versionSkewDoc string

// VersionSkew looks for upgrades and downgrades that were not finished.
var VersionSkew = &checks.Check{
	ID:        "etcd-version-skew",
	Component: collectors.Etcd,
	Title:     "all etcd members run the same version",
	Doc:       versionSkewDoc,
	Needs:     []collectors.Any{etcd.Versions},
	Remedies: []checks.Remedy{
		{Title: "see which version each member runs", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "if a downgrade was begun and is not wanted, call it off", Command: "etcdctl downgrade cancel", Risk: checks.Disruptive},
	},
	Run: versionSkew,
}

const skewSource = "etcd documentation, upgrades: finish them"

func versionSkew(p *checks.Pass) {
	answers, gap := checks.All(p, etcd.Versions)
	byMinor, byVersion := map[string][]string{}, map[string][]string{}
	var clusterWide, downgrade, downgrading string
	for _, a := range answers {
		if a.Gap != nil {
			if gap == nil {
				gap = a.Gap
			}
			continue
		}
		r := a.Value
		byVersion[r.Version] = append(byVersion[r.Version], a.Target.Name)
		byMinor[minorOf(r.Version)] = append(byMinor[minorOf(r.Version)], a.Target.Name)
		if r.ClusterWide != "" {
			clusterWide = minorOf(r.ClusterWide)
		}
		if r.Downgrade != "" {
			downgrade, downgrading = r.Downgrade, a.Target.Name
		}
	}
	minors := slices.Sorted(maps.Keys(byMinor))
	var v *checks.Verdict
	switch {
	case len(byVersion) == 0:
		if gap == nil {
			gap = collectors.Gapf(collectors.NotAsked, "there is no member to ask")
		}
		p.Unknown(etcd.Cluster, gap)
		return
	case downgrade != "":
		v = p.Warn(etcd.Cluster, "a downgrade to %s is under way, says %s", downgrade, downgrading)
	case len(minors) > 1:
		v = p.Warn(etcd.Cluster, "members run different minor versions: %s", spread(byVersion))
	case gap != nil:
		g := *gap
		g.Detail = fmt.Sprintf("those that answer run %s; of the others it is not known: %s", spread(byVersion), g.Detail)
		p.Unknown(etcd.Cluster, &g)
		return
	case clusterWide != "" && clusterWide != minors[0]:
		v = p.Warn(etcd.Cluster, "all members run %s, and speak %s with each other", minors[0], clusterWide)
	case len(byVersion) > 1:
		v = p.Info(etcd.Cluster, "members run different patches: %s", spread(byVersion))
	default:
		v = p.OK(etcd.Cluster, "%s, %s", checks.Count(len(answers), "member"), slices.Collect(maps.Keys(byVersion))[0])
	}
	v.Saw(etcd.Versions, "versions", spread(byVersion), "one", skewSource)
}

func minorOf(version string) string {
	if r, err := cluster.ParseRelease(version); err == nil {
		return fmt.Sprintf("%d.%d", r.Major, r.Minor)
	}
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// spread writes who runs what: "3.5.12 (cp-1), 3.6.4 (cp-2, cp-3)".
func spread(by map[string][]string) string {
	var out []string
	for _, v := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[v])
		out = append(out, fmt.Sprintf("%s (%s)", v, checks.List(by[v], 4)))
	}
	return strings.Join(out, ", ")
}
