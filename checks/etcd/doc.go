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
	QuorumFragile,
	NoLeader,
	LeaderFlapping,
	HeartbeatFailures,
	WALFsyncSlow,
	BackendCommitSlow,
	ApplySlow,
	ApplyLag,
	RaftIndexLag,
	ProposalsPending,
	ProposalsFailed,
	GRPCSlow,
	RequestTooLarge,
	PeerRTTHigh,
	NoSpaceAlarm,
	CorruptAlarm,
	DBQuotaUsage,
	FDExhaustion,
	DBFragmented,
	DBSizeDivergence,
	RevisionDivergence,
	QuotaDefault,
	CompactionStalled,
	DefragInflight,
	UnstartedMember,
	LearnerStuck,
	EvenOrSingle,
	VersionSkew,
	VersionKnownBad,
}
