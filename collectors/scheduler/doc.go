// Package scheduler declares the facts about kube-scheduler: whether its
// instances are healthy and which leads, its queues, its attempts and how long
// they take.
package scheduler

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// Elected holds the facts that the scheduler has in common with all components
// that elect a leader.
var Elected = leases.NewElected(collectors.Scheduler, cluster.RoleScheduler, "10259", "/apis/metrics.eks.amazonaws.com/v1/ksh/container")
