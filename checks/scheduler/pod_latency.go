package scheduler

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed pod_latency.md
var podLatencyDoc string

// PodLatency looks for pods that wait long for a scheduler that has room for
// them.
var PodLatency = &checks.Check{
	ID:        "scheduler-pod-sli-latency",
	Component: collectors.Scheduler,
	Title:     "a pod for which there is room has a node within 5 seconds",
	Doc:       podLatencyDoc,
	Needs:     []collectors.Any{scheduler.PodLatency, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see whether it holds itself back or an attempt is slow", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Trace|slow|throttling'", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { latency(p, scheduler.PodLatency, "pod", podLimit) },
}

// podLimit is the whole of what a pod may take to start, of which placing
// it is but the first part. Slow placement is no failure of the control
// plane, so both end at a warning.
var podLimit = checks.Limit{Seconds: 5, Share: 0.01, Status: checks.Warning, Source: "sig-scalability SLO of pod startup"}
