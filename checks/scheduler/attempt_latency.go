package scheduler

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed attempt_latency.md
var attemptLatencyDoc string

// AttemptLatency looks for attempts that take long.
var AttemptLatency = &checks.Check{
	ID:        "scheduler-attempt-latency",
	Component: collectors.Scheduler,
	Title:     "an attempt that places a pod takes less than a second",
	Doc:       attemptLatencyDoc,
	Needs:     []collectors.Any{scheduler.AttemptLatency, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which plugin takes the time, or whether it is the bind", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Trace|slow|throttling'", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { latency(p, scheduler.AttemptLatency, "attempt", attemptLimit) },
}

// attemptLimit leaves room for five attempts in what a pod may take to
// start. It is experience.
var attemptLimit = checks.Limit{Seconds: 1, Share: 0.01, Status: checks.Warning, Source: "experience; a fifth of the pod startup SLO"}
