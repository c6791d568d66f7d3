// Package scheduler holds the checks on kube-scheduler. Each check is one file,
// with its page beside it and its cases below testdata.
package scheduler

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Down,
	NoLeader,
	ThroughputZero,
	Errors,
	AttemptLatency,
	PodLatency,
	ActiveBacklog,
	BackoffQueue,
	PreemptionStorm,
	StaleCache,
	PluginSlow,
	ClientThrottled,
}
