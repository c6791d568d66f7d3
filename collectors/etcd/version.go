package etcd

import (
	"cmp"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Running is what version of etcd a member runs.
type Running struct {
	Version     string // "3.6.8"
	ClusterWide string // the version that all members speak: "3.6"; empty if it does not say
	Storage     string // version of the storage schema; empty if it does not say
	Downgrade   string // the version that a downgrade under way aims at
	By          collectors.Any
}

// Versions is what each member runs: by its status, or by its metrics.
var Versions = &collectors.Fact[Running]{
	ID:      "etcd.version",
	Doc:     "the version of etcd that each member runs, and that the cluster as a whole speaks",
	Needs:   []collectors.Any{Members, Status, ServerMetrics},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Running, error) {
		st, stGap := Status.Of(s, t)
		sv, svGap := ServerMetrics.Of(s, t)
		r := Running{Version: cmp.Or(st.Version, sv.Version), ClusterWide: sv.ClusterWide, Storage: st.Storage, Downgrade: st.Downgrade, By: Status}
		if stGap != nil {
			r.By = ServerMetrics
		}
		switch {
		case stGap != nil && svGap != nil:
			return r, failure(stGap, svGap)
		case r.Version == "":
			return r, collectors.Gapf(collectors.Absent, "the member does not say which version it runs")
		}
		return r, nil
	},
}

// quotaInStatusIsRight reports whether a member's status tells its quota. The
// field came with 3.6.0 and was wrong before 3.6.6.
// Source: etcd-io/etcd PR #20790.
func quotaInStatusIsRight(version string) bool {
	v, err := cluster.ParseRelease(version)
	if err != nil {
		return false
	}
	return v.Major > 3 || v.Minor > 6 || v.Minor == 6 && v.Patch >= 6
}
