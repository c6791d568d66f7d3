package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed version_known_bad.md
var versionKnownBadDoc string

// VersionKnownBad tells the known faults of the versions that run.
var VersionKnownBad = &checks.Check{
	ID:        "etcd-version-known-bad",
	Component: collectors.Etcd,
	Title:     "no etcd member runs a version with known faults",
	Doc:       versionKnownBadDoc,
	Needs:     []collectors.Any{etcd.Versions},
	Remedies: []checks.Remedy{
		{Title: "see what the patches of its line fixed", Command: "curl -sL https://raw.githubusercontent.com/etcd-io/etcd/main/CHANGELOG/CHANGELOG-3.5.md | less", Risk: checks.ReadOnly},
		{Title: "save a snapshot before an upgrade", Command: "etcdctl snapshot save /var/tmp/etcd-$(date +%s).db --command-timeout=300s", Risk: checks.Safe},
	},
	Run: versionKnownBad,
}

// A fault is in the patches of some lines of etcd 3.
type fault struct {
	good   map[int]int // minor → the first patch without it; other lines never had it
	what   string
	source string
	status checks.Status
}

// faults lists those that can hurt a Kubernetes control plane, worst first.
// A version proves no trouble, so most are advice; those warn of which etcd
// itself says not to run them in production. Faults of etcd's own users and
// roles, which Kubernetes does not use, are left out.
// Source: CHANGELOG-3.4 to 3.7 of etcd, August 2026.
var faults = []fault{
	{map[int]int{5: 3}, "members may diverge when one crashes under load", "etcd #13766", checks.Warning},
	{map[int]int{5: 6}, "members may diverge when one crashes while it is defragmented", "etcd #14733", checks.Warning},
	{map[int]int{4: 38, 5: 23, 6: 5}, "data may be corrupted when a member receives a snapshot while it is defragmented", "etcd #20659", checks.Info},
	{map[int]int{5: 17}, "a transaction may be applied in part", "etcd #18799", checks.Info},
	{map[int]int{4: 42, 5: 28, 6: 9}, "a read may be stale after a change of leader", "etcd #21385", checks.Info},
	{map[int]int{4: 31, 5: 13}, "watches may miss events after a compaction, and leases may be revoked by a deposed leader", "etcd #17610, #17465", checks.Info},
	{map[int]int{4: 25, 5: 8}, "watches starve under many reads", "etcd #15402", checks.Info},
	{map[int]int{4: 36, 5: 18}, "a watch may miss a deletion at the compacted revision", "etcd #19251", checks.Info},
	{map[int]int{4: 34, 5: 16}, "a compaction may drop a deletion that it should keep", "etcd #18475", checks.Info},
	{map[int]int{4: 32, 5: 14}, "revisions may go back after a crash during a compaction", "etcd #17864", checks.Info},
	{map[int]int{5: 33, 6: 14, 7: 1}, "unbounded TLS handshakes exhaust it", "GHSA-6vch-q96h-7gc3", checks.Info},
	{map[int]int{5: 26}, "an upgrade to 3.6 may fail with too many learners", "etcd upgrade guide 3.6", checks.Info},
	{map[int]int{6: 4}, "it may not start after a learner was promoted", "etcd #20387", checks.Info},
}

// oldestKept is the first line that is still maintained: 3.4 ended in 2026.
const oldestKept = 5

func versionKnownBad(p *checks.Pass) {
	for m, r := range checks.Each(p, etcd.Versions) {
		v, err := cluster.ParseRelease(r.Version)
		if err != nil {
			p.Unknown(m, collectors.Gapf(collectors.Malformed, "%v", err))
			continue
		}
		var found []fault
		fix := 0
		for _, f := range faults {
			if good, ok := f.good[v.Minor]; ok && v.Major == 3 && v.Patch < good {
				found = append(found, f)
				fix = max(fix, good)
			}
		}
		old := v.Major < 3 || v.Major == 3 && v.Minor < oldestKept
		switch {
		case len(found) > 0:
			more := ""
			if len(found) > 1 {
				more = fmt.Sprintf(", and %s", checks.Count(len(found)-1, "more fault"))
			}
			p.Judge(m, found[0].status, "runs %s: %s%s; fixed in 3.%d.%d", r.Version, found[0].what, more, v.Minor, fix).
				Saw(r.By, "version", r.Version, fmt.Sprintf("3.%d.%d", v.Minor, found[0].good[v.Minor]), found[0].source).
				Number("faults", float64(len(found)))
		case old:
			p.Info(m, "runs %s, a line that is not maintained any more", r.Version).
				Saw(r.By, "version", r.Version, fmt.Sprintf("3.%d", oldestKept), "etcd CHANGELOG-3.4")
		default:
			p.OK(m, "runs %s: no fault is known to ktriage", r.Version).
				Saw(r.By, "version", r.Version, "", "etcd CHANGELOGs, August 2026")
		}
	}
}
