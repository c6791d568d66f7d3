package scheduler

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Tally is what a scheduler counts beside its queues and attempts.
type Tally struct {
	Elapsed     time.Duration
	Broken      string  // why the looks cannot be compared; empty if they can
	Preemptions float64 // attempts to make room, over the window
	Served      bool    // it has ever made one, or says that it has not

	Nodes, NodesBefore float64 // in its cache, at both looks
	HasNodes           bool    // it says how many; from 1.15 on
}

// Tallies are what each scheduler counts. A scheduler that does not lead has a
// cache, and makes no attempts.
var Tallies = leases.WindowFact(Elected, "tally", "how often each scheduler tried to make room by preemption, and how many nodes it knows",
	func(w metrics.Window) (Tally, error) {
		if !w.Has("scheduler_pending_pods") {
			return Tally{}, collectors.AbsentMetric("scheduler_pending_pods")
		}
		t := Tally{Elapsed: w.Elapsed(), Broken: w.Broken}
		preemptions := w.Last.First("scheduler_preemption_attempts_total", "scheduler_total_preemption_attempts")
		t.Served = w.Has(preemptions)
		t.Preemptions, _ = w.Delta(preemptions)
		cache := w.Last.First("scheduler_cache_size", "scheduler_scheduler_cache_size")
		t.Nodes, t.HasNodes = w.Last.Sum(cache, metrics.Eq("type", "nodes"))
		if w.OK() {
			t.NodesBefore, _ = w.First.Sum(cache, metrics.Eq("type", "nodes"))
		}
		return t, nil
	},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}},
	metrics.Select{Name: "scheduler_preemption_attempts_total"},
	metrics.Select{Name: "scheduler_total_preemption_attempts"},
	metrics.Select{Name: "scheduler_cache_size", By: []string{"type"}},
	metrics.Select{Name: "scheduler_scheduler_cache_size", By: []string{"type"}})

// A Point is how long the plugins of one step of an attempt take together.
type Point struct {
	Name string // "Filter", "Bind"
	metrics.Latency
}

// maxPoints bounds what is kept; there are a dozen.
const maxPoints = 50

// Points are how long each step of an attempt takes.
var Points = leases.WindowFact(Elected, "points", "how long the plugins of each step of an attempt take together",
	func(w metrics.Window) ([]Point, error) {
		const family = "scheduler_framework_extension_point_duration_seconds" // from 1.17 on
		if !w.Has(family) {
			return nil, noneYet(w, []string{family})
		}
		var out []Point
		names := w.Last.Values(family+"_count", "extension_point")
		for _, n := range names[:min(len(names), maxPoints)] {
			if l, ok := w.Latency(family, metrics.Eq("extension_point", n)); ok {
				out = append(out, Point{n, l})
			}
		}
		return out, nil
	},
	metrics.Select{Name: "scheduler_framework_extension_point_duration_seconds", By: []string{"extension_point"}},
	metrics.Select{Name: "scheduler_schedule_attempts_total", By: []string{"result"}},
	metrics.Select{Name: "scheduler_pending_pods", By: []string{"queue"}})
