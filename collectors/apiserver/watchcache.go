package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A WatchCache is how an instance's caches keep up with etcd.
type WatchCache struct {
	Wait       metrics.Latency           // of reads for the cache to be fresh enough, seconds; empty before 1.30
	Started    map[string]metrics.Growth // times that a cache was filled, by resource
	Failed     map[string]metrics.Growth // times that filling it failed; 1.37 and later
	Terminated metrics.Growth            // watchers that were too slow and were cut off
	Consistent metrics.Growth            // reads that must be current; 1.31 and later
	Fallback   metrics.Growth            // of them, those that the cache could not serve and etcd had to
	// Revision is the resource version of the cache of leases at the first look
	// and at the last, 0 before 1.31; and Renewed counts the leases that clients
	// renewed by this instance meanwhile. Each renewal moves the former.
	Revision [2]float64
	Renewed  float64
	Uptime   time.Duration
	Elapsed  time.Duration
	Broken   string
}

// WatchCaches is how each instance's caches keep up with etcd.
var WatchCaches = windowFact("apiserver.watch-cache", "how each instance's watch caches keep up with etcd",
	func(w metrics.Window) (WatchCache, error) {
		c := WatchCache{Uptime: w.Uptime(), Elapsed: w.Elapsed(), Broken: w.Broken}
		starts := w.Last.First("apiserver_watch_cache_initializations_total", "apiserver_watch_cache_watch_cache_initializations_total")
		if !w.Has(starts) {
			return c, absent(w, 24, "apiserver_watch_cache_initializations_total")
		}
		by := func(x metrics.Series) (string, bool) { return resourceOf(x), true }
		all := func(metrics.Series) (bool, bool) { return true, true }
		c.Started = metrics.Growths(w, starts, by)
		c.Failed = metrics.Growths(w, "apiserver_watch_cache_initialization_errors_total", by)
		c.Terminated = metrics.Growths(w, "apiserver_terminated_watchers_total", all)[true]
		c.Wait, _ = w.Latency("apiserver_watch_cache_read_wait_seconds")
		c.Consistent = metrics.Growths(w, "apiserver_watch_cache_consistent_read_total", all)[true]
		c.Fallback = metrics.Growths(w, "apiserver_watch_cache_consistent_read_total", func(x metrics.Series) (bool, bool) {
			return true, x.Get("fallback") == "true"
		})[true]
		leases := metrics.Eq("resource", "leases", "leases.coordination.k8s.io")
		if w.OK() {
			c.Revision[0], _ = w.First.Sum("apiserver_watch_cache_resource_version", leases)
			c.Revision[1], _ = w.Last.Sum("apiserver_watch_cache_resource_version", leases)
			c.Renewed, _ = w.Delta("apiserver_request_total", metrics.Eq("resource", "leases"), metrics.Eq("verb", "PUT", "PATCH"), metrics.Eq("code", "200"))
		}
		return c, nil
	},
	append(selects([]string{"group", "resource"}, "apiserver_watch_cache_initializations_total", "apiserver_watch_cache_watch_cache_initializations_total",
		"apiserver_watch_cache_initialization_errors_total", "apiserver_watch_cache_resource_version"),
		metrics.Select{Name: "apiserver_terminated_watchers_total"},
		metrics.Select{Name: "apiserver_watch_cache_read_wait_seconds"},
		metrics.Select{Name: "apiserver_watch_cache_consistent_read_total", By: []string{"fallback"}},
		metrics.Select{Name: "apiserver_request_total", By: []string{"resource", "verb", "code"}})...)
