package scheduler

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Lengths is how many pods wait in each of the scheduler's queues.
type Lengths struct {
	Active        float64 // to be tried next
	Backoff       float64 // to be tried again within seconds
	Unschedulable float64 // tried, and fit nowhere
	Gated         float64 // not to be tried yet; 0 before 1.26, which has no gates
}

// Queues is what an instance's scheduling queues hold. Those of one that does
// not lead are empty.
type Queues struct {
	Now    Lengths
	Before Lengths // at the look before
	Broken string  // why there is no look before; empty if there is
}

// Pending is what waits in the queues of each scheduler.
var Pending = leases.WindowFact(Elected, "queues", "how many pods wait in the queues of each scheduler, at both looks",
	func(w metrics.Window) (Queues, error) {
		const family = "scheduler_pending_pods" // from 1.15 on
		if !w.Has(family) {
			return Queues{}, collectors.AbsentMetric(family)
		}
		q := Queues{Now: lengths(w.Last, family), Broken: w.Broken}
		if w.OK() {
			q.Before = lengths(w.First, family)
		}
		return q, nil
	},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}})

func lengths(s *metrics.Set, family string) Lengths {
	of := func(queue string) float64 {
		v, _ := s.Sum(family, metrics.Eq("queue", queue))
		return v
	}
	return Lengths{Active: of("active"), Backoff: of("backoff"), Unschedulable: of("unschedulable"), Gated: of("gated")}
}

// Tries is how often a scheduler tried to place a pod, over the window.
type Tries struct {
	Scheduled     float64
	Unschedulable float64
	Error         float64 // an internal problem, not a lack of room
	Elapsed       time.Duration
	Profiles      []string // the schedulerNames that it has served since it started, sorted
}

// Total is the number of attempts.
func (t Tries) Total() float64 { return t.Scheduled + t.Unschedulable + t.Error }

// Rate is a number of attempts a second.
func (t Tries) Rate(n float64) float64 {
	if t.Elapsed <= 0 {
		return 0
	}
	return n / t.Elapsed.Seconds()
}

// Attempts is how often each scheduler tried to place a pod over the window.
var Attempts = leases.WindowFact(Elected, "attempts", "how often each scheduler tried to place a pod over the window, by result",
	func(w metrics.Window) (Tries, error) {
		const family = "scheduler_schedule_attempts_total"
		t := Tries{Elapsed: w.Elapsed(), Profiles: profiles(w.Last, family)}
		if !w.OK() {
			return t, collectors.Gapf(collectors.Absent, "attempts over the window cannot be counted: %s", w.Broken)
		}
		if !w.Has(family) {
			// The counter has no series before the first attempt, which on a
			// follower never comes.
			if !w.Has("scheduler_pending_pods") {
				return t, collectors.AbsentMetric(family)
			}
			return t, nil
		}
		for result, n := range map[string]*float64{"scheduled": &t.Scheduled, "unschedulable": &t.Unschedulable, "error": &t.Error} {
			*n, _ = w.Delta(family, metrics.Eq("result", result))
		}
		return t, nil
	},
	metrics.Select{Name: "scheduler_schedule_attempts_total", By: []string{"result", "profile"}},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}})

// maxProfiles bounds the names that are kept; a scheduler has a handful.
const maxProfiles = 50

func profiles(s *metrics.Set, family string) []string {
	var out []string
	for _, p := range s.Values(family, "profile") {
		if p != "" && len(out) < maxProfiles {
			out = append(out, p)
		}
	}
	return out
}
