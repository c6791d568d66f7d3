package faults

// Shapes lists healthy clusters of all kinds: ktriage must have nothing to say
// about them.
func Shapes() []Fault {
	return []Fault{
		fresh,
		idleForLong,
		pendingGated,
		pendingPreemption,
		midRollout,
		busy,
		justRestarted,
		afterSlowDisk,
		harmlessFragmentation,
		singleNode,
		twoAPIServers,
	}
}
