package faults

// etcdFaults lists what can be wrong with etcd, and with what is written to it.
// Those that need no new lab come first.
func etcdFaults() []Fault {
	return []Fault{
		eventFlood,
		runawayCustomResource,
		bigObjects,
		etcdUnstartedMember,
		etcdMemberFrozen,
		etcdLeaderFrozen,
		etcdNodeCutOff,
		etcdPeerPartition,
		etcdFollowerStarved,
		etcdCPUStarved,
		etcdQuorumLost,
		etcdPeerLatency,
		etcdNospace,
		etcdNospaceLatched,
		etcdFragmented,
		etcdEvenMembers,
		etcdMixedVersions,
		etcdLearner,
		etcdCompactionOff,
	}
}
