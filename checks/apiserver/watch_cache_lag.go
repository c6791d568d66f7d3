package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed watch_cache_lag.md
var watchCacheLagDoc string

// WatchCacheLag looks for caches that are behind etcd: what is served from them is old.
var WatchCacheLag = &checks.Check{
	ID:        "apiserver-watch-cache-lag",
	Component: collectors.APIServer,
	Title:     "API servers' caches keep up with etcd",
	Doc:       watchCacheLagDoc,
	Needs:     []collectors.Any{apiserver.WatchCaches},
	Remedies: []checks.Remedy{
		{Title: "see whether etcd is behind with its watches", Command: "curl -s http://127.0.0.1:2381/metrics | grep -E '^etcd_debugging_mvcc_(slow_watcher|pending_events)_total'", Risk: checks.ReadOnly},
		{Title: "restart that instance, on its node: it builds its caches anew", Command: "crictl stop $(crictl ps -q --name kube-apiserver)", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{cacheWaitAt},
	Run:        watchCacheLag,
}

const (
	// No public source: the check ends at warning.
	cacheWait   = 0.1 // seconds
	cacheSource = "heuristic"
	// A cache that stands still while leases are renewed by the same instance
	// does not get etcd's events. Three renewals are no chance: each is an event.
	cacheRenewals = 3.0
	frozenSource  = "kube-apiserver: each write moves the resource version of the cache"
)

var cacheLimits = []checks.Limit{{At: cacheWaitAt, Seconds: cacheWait, Share: 0.01, Status: checks.Warning, Source: cacheSource}}

var cacheWaitAt = checks.NewThreshold("warn", checks.InSeconds, cacheWait, "that a read waits for the cache, which 99 of 100 must not exceed", cacheSource)

func watchCacheLag(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.WatchCaches) {
		if c.Elapsed > 0 && c.Revision[0] > 0 && c.Revision[0] == c.Revision[1] && c.Renewed >= cacheRenewals {
			p.Warn(t, "the cache of leases stands still: %.0f were renewed in %s, and it has heard of none", c.Renewed, checks.Span(c.Elapsed)).
				Saw(apiserver.WatchCaches, "resource version of leases", fmt.Sprintf("%.0f, %.0f", c.Revision[0], c.Revision[1]), "growing", frozenSource).Mark("frozen")
			continue
		}
		j := checks.JudgeLatency(c.Wait, p.Limits(cacheLimits)...)
		if j.Status == checks.Unknown {
			p.Nothing(t, "no read waited for the cache in the window, nor does one tell of a cache that stands still")
			continue
		}
		v := p.Judge(t, j.Status, "reads wait for the cache to be fresh: %s", j).
			Saw(apiserver.WatchCaches, "wait p99", checks.Quantile(j.P99), checks.Seconds(j.Limit.Seconds), j.Limit.Source).
			Number("p99", j.P99.Value)
		if j.TooFew {
			v.TooFew()
		}
	}
}
