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
	GRPCFailures,
	SlowReadIndex,
	CPUHigh,
	MemoryHigh,
	PeerRTTHigh,
	PeerFailures,
	SnapshotFsyncSlow,
	SnapshotTransfer,
	WatchBacklog,
	OpenReadTxns,
	NoSpaceAlarm,
	CorruptAlarm,
	DBQuotaUsage,
	DBLarge,
	DBGrowth,
	FDExhaustion,
	DBFragmented,
	DBSizeDivergence,
	RevisionDivergence,
	HashDivergence,
	QuotaDefault,
	SharedWithOthers,
	AutoCompactionConflict,
	CorruptionCheckOff,
	CompactionStalled,
	DefragInflight,
	UnstartedMember,
	LearnerStuck,
	EvenOrSingle,
	VersionSkew,
	VersionKnownBad,
}
