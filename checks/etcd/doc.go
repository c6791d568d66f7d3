// Package etcd holds the checks on etcd. Each check is one file, with its page
// beside it and its cases below testdata.
package etcd

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	MemberUnreachable,
	QuorumLost,
	NoLeader,
	LeaderFlapping,
	WALFsyncSlow,
	BackendCommitSlow,
	DBQuotaUsage,
	DBFragmented,
	NoSpaceAlarm,
	PeerRTTHigh,
}
