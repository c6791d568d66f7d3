// Package controllers holds the checks on kube-controller-manager and on
// whether it looks after what it should. Each check is one file, with its page
// beside it and its cases below testdata.
package controllers

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Down,
	NoLeader,
	QueueDepth,
	RetriesHigh,
	StuckWorker,
	ClientErrors,
	ClientThrottled,
	QueueLatency,
	GenerationLag,
	ScaleLag,
	WorkLatency,
	GCSyncErrors,
	PodGCForceDeletes,
	EvictionRate,
	CIDRExhausted,
	InformerLag,
	NotRunning,
	Restarts,
	FailedCreate,
	NotProgressing,
}
