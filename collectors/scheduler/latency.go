package scheduler

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// attemptFamilies are the names of the latency of an attempt over time: from
// 1.19 on the first, to 1.26 the second.
var attemptFamilies = []string{"scheduler_scheduling_attempt_duration_seconds", "scheduler_e2e_scheduling_duration_seconds"}

// AttemptLatency is how long an attempt takes that places its pod, from taking
// it off the queue to having bound it.
var AttemptLatency = leases.WindowFact(Elected, "attempt-latency", "how long a successful attempt of each scheduler takes, binding included",
	func(w metrics.Window) (metrics.Latency, error) {
		name := w.Last.First(attemptFamilies...)
		if !w.Has(name) {
			return metrics.Latency{}, noneYet(w, attemptFamilies)
		}
		// Older ones do not tell results apart; attempts that find no room are
		// none of the bad ones, since they bind nothing.
		l, ok := w.Latency(name, metrics.Eq("result", "scheduled", ""))
		if !ok {
			return metrics.Latency{Elapsed: w.Elapsed(), Uptime: w.Uptime()}, nil
		}
		return l, nil
	},
	metrics.Select{Name: attemptFamilies[0], By: []string{"result"}},
	metrics.Select{Name: attemptFamilies[1], By: []string{"result"}},
	metrics.Select{Name: "scheduler_schedule_attempts_total", By: []string{"result"}},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}})

// podFamilies are the names of the latency of a pod over time: from 1.28 on the
// first, from 1.17 to 1.30 the second.
var podFamilies = []string{"scheduler_pod_scheduling_sli_duration_seconds", "scheduler_pod_scheduling_duration_seconds"}

// PodLatency is how long pods took from entering the queue to being bound that
// were placed at the first attempt. What a pod waits for room, or for a node to
// be added, is in further attempts and says nothing about the scheduler.
var PodLatency = leases.WindowFact(Elected, "pod-latency", "how long pods took from the queue to a node that were placed at the first attempt",
	func(w metrics.Window) (metrics.Latency, error) {
		name := w.Last.First(podFamilies...)
		if !w.Has(name) {
			return metrics.Latency{}, noneYet(w, podFamilies)
		}
		l, ok := w.Latency(name, metrics.Eq("attempts", "1"))
		if !ok {
			return metrics.Latency{Elapsed: w.Elapsed(), Uptime: w.Uptime()}, nil
		}
		return l, nil
	},
	metrics.Select{Name: podFamilies[0], By: []string{"attempts"}},
	metrics.Select{Name: podFamilies[1], By: []string{"attempts"}},
	metrics.Select{Name: "scheduler_schedule_attempts_total", By: []string{"result"}},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}})

// noneYet tells a histogram that has no series because nothing was observed
// from one that is not served at all.
func noneYet(w metrics.Window, names []string) error {
	if n, ok := w.Last.Sum("scheduler_schedule_attempts_total", metrics.Eq("result", "scheduled")); (!ok || n == 0) && w.Has("scheduler_pending_pods") {
		return collectors.Gapf(collectors.OutOfScope, "this scheduler has not placed a pod yet")
	}
	return collectors.AbsentMetric(names...)
}
