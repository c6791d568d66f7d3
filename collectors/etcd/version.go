package etcd

import (
	"github.com/ktriage/ktriage/collectors/cluster"
)

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
