// Package workloads holds the checks on the loops by which controllers keep
// workloads as they should be: whether what is changed is acted on, and what
// holds up the rest. Each check is one file, with its page beside it and its
// cases below testdata.
package workloads

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	ControllersLagging,
	ReplicasMismatch,
	StatefulSetStuck,
	DaemonSetStuck,
	JobStuck,
	CronJobMissed,
	EndpointLag,
	PVCPending,
	HPAFailing,
	PDBBlocking,
	QuotaFull,
	GCOrphans,
	DefaultObjectsMissing,
	TerminatingPods,
	AttachDetach,
	LBPending,
	LifecycleLag,
}
