package faults

import "slices"

// Quick lists some of each kind, which are tried at every change.
func Quick() []Fault {
	return []Fault{
		pendingResources,
		etcdMemberDown,
		etcdLeaderDown,
		slowFsyncFollower,
		slowFsyncLeader,
		slowFsync,
		schedulerDown,
		kcmDown,
	}
}

// All lists the faults, in the order in which a test may inject them.
func All() []Fault {
	return slices.Concat([]Fault{
		pendingResources,
		etcdMemberDown,
		etcdLeaderDown,
		slowFsyncFollower,
		slowFsyncLeader,
		slowFsync,
		schedulerDown,
		kcmDown,
	}, etcdFaults(), planeFaults())
}
