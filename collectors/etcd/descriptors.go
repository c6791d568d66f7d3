package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Descriptors counts a member's file descriptors.
type Descriptors struct{ Open, Limit float64 }

// OpenFiles is how many file descriptors each member has open, of how many.
var OpenFiles = windowFact("etcd.descriptors", "file descriptors that each member has open, and its limit",
	func(w metrics.Window) (Descriptors, error) {
		open, okOpen := w.Last.Sum("process_open_fds")
		limit, okLimit := w.Last.Sum("process_max_fds")
		if !okOpen || !okLimit || limit <= 0 {
			return Descriptors{}, collectors.AbsentMetric("process_open_fds", "process_max_fds")
		}
		return Descriptors{open, limit}, nil
	},
	metrics.Select{Name: "process_open_fds"}, metrics.Select{Name: "process_max_fds"})
