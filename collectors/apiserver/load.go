package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Load is what an instance's process has to do.
type Load struct {
	Goroutines  [2]float64 // at the first look and at the last; both the last where they cannot be compared
	LongRunning float64    // watches and other requests that stay open; 0 if it does not say
	Elapsed     time.Duration
}

// Loads is what each instance's process has to do.
var Loads = windowFact("apiserver.load", "each instance's goroutines, and the requests that stay open in it",
	func(w metrics.Window) (Load, error) {
		n, ok := w.Last.Sum("go_goroutines")
		if !ok {
			return Load{}, collectors.AbsentMetric("go_goroutines")
		}
		l := Load{Goroutines: [2]float64{n, n}, Elapsed: w.Elapsed()}
		if w.OK() {
			l.Goroutines[0], _ = w.First.Sum("go_goroutines")
		}
		l.LongRunning, _ = w.Last.Sum(w.Last.First("apiserver_longrunning_requests", "apiserver_longrunning_gauge"))
		return l, nil
	},
	selects(nil, "go_goroutines", "apiserver_longrunning_requests", "apiserver_longrunning_gauge")...)
