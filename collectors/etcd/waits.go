package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Indexes counts the times that a member asked the leader how far the cluster
// is, as it must before every consistent read, and did not hear in time.
type Indexes struct {
	Slow   Growth // waits of over a second
	Failed Growth // waits that ended without an answer
}

// ReadIndexes counts each member's waits for the leader.
var ReadIndexes = windowFact("etcd.read-indexes", "how often each member waited long for the leader, or in vain, before a consistent read", func(w metrics.Window) (Indexes, error) {
	slow, ok := growth(w, "etcd_server_slow_read_indexes_total")
	if !ok {
		return Indexes{}, collectors.AbsentMetric("etcd_server_slow_read_indexes_total")
	}
	return Indexes{slow, count(w, "etcd_server_read_indexes_failed_total")}, nil
},
	metrics.Select{Name: "etcd_server_slow_read_indexes_total"},
	metrics.Select{Name: "etcd_server_read_indexes_failed_total"},
)

// A Gauge is a number at the first look and at the last.
type Gauge struct {
	First, Last float64
	Looks       int
}

func gauge(w metrics.Window, family string) (Gauge, bool) {
	last, ok := w.Last.Sum(family)
	g := Gauge{First: last, Last: last, Looks: 1}
	if ok && w.OK() {
		if first, had := w.First.Sum(family); had {
			g.First, g.Looks = first, 2
		}
	}
	return g, ok
}

// Least is the smaller of the two looks: what was there all the time.
func (g Gauge) Least() float64 { return min(g.First, g.Last) }

// Watches is how far behind a member is with telling its clients what changed.
type Watches struct {
	Open    float64 // watches
	Slow    Gauge   // watches that have not been told everything yet
	Pending Gauge   // events that wait to be sent
}

// WatchMetrics is how far behind each member is with its watches.
var WatchMetrics = windowFact("etcd.watches", "how many watches each member serves, and how far behind it is with them", func(w metrics.Window) (Watches, error) {
	slow, ok := gauge(w, "etcd_debugging_mvcc_slow_watcher_total")
	if !ok {
		return Watches{}, collectors.AbsentMetric("etcd_debugging_mvcc_slow_watcher_total")
	}
	pending, ok := gauge(w, "etcd_debugging_mvcc_pending_events_total")
	if !ok {
		return Watches{}, collectors.AbsentMetric("etcd_debugging_mvcc_pending_events_total")
	}
	open, _ := w.Last.Sum("etcd_debugging_mvcc_watcher_total")
	return Watches{open, slow, pending}, nil
},
	metrics.Select{Name: "etcd_debugging_mvcc_slow_watcher_total"},
	metrics.Select{Name: "etcd_debugging_mvcc_pending_events_total"},
	metrics.Select{Name: "etcd_debugging_mvcc_watcher_total"},
)

// OpenReads counts the read transactions that are open in each member's
// database: pages that they may still read cannot be used again.
var OpenReads = windowFact("etcd.open-reads", "how many read transactions are open in each member's database", func(w metrics.Window) (Gauge, error) {
	g, ok := gauge(w, "etcd_mvcc_db_open_read_transactions")
	if !ok {
		return g, missing(w, 4, "etcd_mvcc_db_open_read_transactions")
	}
	return g, nil
},
	metrics.Select{Name: "etcd_mvcc_db_open_read_transactions"},
	metrics.Select{Name: "etcd_server_version", By: []string{"server_version"}},
)
