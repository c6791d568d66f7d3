package vitals

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

// schedulerGroup tells what waits in the leader's queues, how fast it places
// pods, and how many pods the API server knows to be pending.
var schedulerGroup = Group{
	Component: collectors.Scheduler,
	Needs: []collectors.Any{
		scheduler.Elected.Leads, scheduler.Pending, scheduler.Attempts, scheduler.AttemptLatency, scheduler.PodLatency, pods.Pending,
	},
	Read: readScheduler,
}

func readScheduler(s *collectors.Snapshot, add func(Vital)) {
	if c, gap := pods.Pending.One(s); gap == nil {
		add(Vital{Target: scheduler.Elected.Self(), Name: "pending pods", Value: float64(c.Total), Basis: checks.AtInstant})
	}
	leads, _ := scheduler.Elected.Leads.Answers(s)
	for _, l := range leads {
		if l.Gap != nil || !l.Value.Leads {
			continue // the queues of one that does not lead are empty
		}
		t := l.Target
		if q, gap := scheduler.Pending.Of(s, t); gap == nil {
			queue := func(name string, n float64) {
				add(Vital{Target: t, Name: "queue " + name, Value: n, Basis: checks.AtInstant})
			}
			queue("active", q.Now.Active)
			queue("backoff", q.Now.Backoff)
			queue("unschedulable", q.Now.Unschedulable)
			queue("gated", q.Now.Gated)
		}
		if n, gap := scheduler.Attempts.Of(s, t); gap == nil {
			tries := func(name string, k float64) {
				add(Vital{Target: t, Name: name, Value: n.Rate(k), Unit: "1/s", Basis: checks.OverWindow})
			}
			tries("scheduled", n.Scheduled)
			tries("unschedulable", n.Unschedulable)
			tries("errors", n.Error)
		}
		if l, gap := scheduler.AttemptLatency.Of(s, t); gap == nil {
			addP99(t, "attempt p99", l, add)
		}
		if l, gap := scheduler.PodLatency.Of(s, t); gap == nil {
			addP99(t, "pod p99", l, add)
		}
	}
}
