package remediate

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// A bad range of versions, in which something must not be done.
type bad struct {
	minor, from, to int  // patches, to excluded
	kind            Kind // "" for everything that writes
	what, source    string
}

// badVersions are those on which a cure could do harm. Version 3.3 and older
// are refused altogether. Against the race between a defragmentation and a
// snapshot that a member receives (etcd #20659), which is in all before 3.4.38,
// 3.5.23 and 3.6.5, stand the guards on lag and on snapshots being applied.
var badVersions = []bad{
	{5, 0, 3, "", "its members may diverge when one crashes under load", "etcd #13766"},
	{5, 3, 6, Defragment, "its members may diverge when one crashes while it is defragmented; do it offline with etcdutl", "etcd #14733"},
	{4, 0, 4, Defragment, "it reads a broken file after a crash while it is defragmented", "etcd #11613"},
	{4, 0, 8, "", "its database may be corrupted by a crash", "etcd #11652"},
}

// versions demands that all members run one version, which is none that is
// known to be hurt by what is to be done, and that none is on its way to another.
func (g *gate) versions(kind Kind) *checks.Check {
	return guard("cure-version", "all members run one version, and one on which it is safe", func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.Versions)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		first := ""
		for _, a := range as {
			if a.Gap != nil {
				if slices.Contains(g.plan.State.Down, a.Target.Name) && g.plan.Options.AllowDown {
					p.Info(a.Target, "does not answer, as when the plan was made")
				} else {
					p.Unknown(a.Target, a.Gap)
				}
				continue
			}
			r := a.Value
			v, err := cluster.ParseRelease(r.Version)
			wide, wideErr := cluster.ParseRelease(r.ClusterWide + ".0")
			switch b, isBad := badFor(v, kind); {
			case err != nil:
				p.Unknown(a.Target, collectors.Gapf(collectors.Malformed, "%v", err))
			case r.Downgrade != "":
				p.Warn(a.Target, "a downgrade to %s is under way", r.Downgrade)
			case first != "" && r.Version != first:
				p.Warn(a.Target, "runs %s, another %s: an upgrade is under way", r.Version, first)
			case r.ClusterWide != "" && wideErr == nil && (wide.Major != v.Major || wide.Minor != v.Minor):
				p.Warn(a.Target, "runs %s, and the cluster speaks %s: an upgrade is under way", r.Version, r.ClusterWide)
			case isBad:
				p.Warn(a.Target, "runs %s: %s (%s)", r.Version, b.what, b.source)
			default:
				p.OK(a.Target, "runs %s", r.Version)
			}
			first = r.Version
		}
	}, etcd.Versions)
}

func badFor(v cluster.Release, kind Kind) (bad, bool) {
	if v.Major < 3 || v.Major == 3 && v.Minor < 4 {
		return bad{what: fmt.Sprintf("3.%d and older are not maintained, and lose data in known ways", 3), source: "etcd CHANGELOG"}, true
	}
	for _, b := range badVersions {
		if v.Major == 3 && v.Minor == b.minor && v.Patch >= b.from && v.Patch < b.to && (b.kind == "" || b.kind == kind) {
			return b, true
		}
	}
	return bad{}, false
}

// A caution is a fault that an action may bring out, and that is no reason not to
// act: the same goes on without ktriage, or it is rare and mends itself.
type caution struct {
	kind         Kind
	fixed        [2]int // the patches of 3.4 and 3.5 from which on it is mended; later lines never had it
	what, source string
}

var cautions = []caution{
	{Compact, [2]int{31, 13}, "a watch may lose events after a compaction", "etcd #17610"},
	{Compact, [2]int{32, 14}, "the revision may go back if a member ends in the middle of a compaction", "etcd #17865"},
	{Compact, [2]int{34, 16}, "a deletion at the very revision of a compaction may be lost", "etcd #18475"},
	{Compact, [2]int{36, 18}, "a watch that begins at the revision of a compaction may miss a deletion", "etcd #19251"},
	{MoveLeader, [2]int{31, 13}, "a leader that was replaced may revoke leases that are alive", "etcd #17465"},
	{Defragment, [2]int{19, 3}, "a defragmented member forgets settings of its database until it is started anew", "etcd #13713"},
	{Defragment, [2]int{35, 17}, "a member whose defragmentation fails, as for want of disk, ends", "etcd #18843"},
}

// caution notes what is known of the versions that run about what is planned.
func (p *planner) caution() {
	for _, c := range cautions {
		planned := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action.Kind == c.kind })
		for _, m := range p.State.Members {
			v, err := cluster.ParseRelease(m.Version)
			if err != nil || !planned || v.Major != 3 || v.Minor < 4 || v.Minor > 5 || v.Patch >= c.fixed[v.Minor-4] {
				continue
			}
			p.note("etcd %s: %s; mended in 3.%d.%d (%s)", m.Version, c.what, v.Minor, c.fixed[v.Minor-4], c.source)
			break
		}
	}
}
