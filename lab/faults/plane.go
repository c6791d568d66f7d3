package faults

// planeFaults are those of everything but etcd.
func planeFaults() []Fault {
	return []Fault{
		pendingSelector,
		pendingTaint,
		pendingAntiAffinity,
		pendingPVC,
		pendingHostPort,
		pendingUnknownScheduler,
		quotaBlocksPods,
		namespaceFinalizer,
		apiServiceDead,
		nodeOneSilent,
		nodeMostSilent,
	}
}
