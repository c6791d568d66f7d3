package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed watch_cache_reinit.md
var watchCacheReinitDoc string

// WatchCacheReinit looks for caches that are filled anew: their watch on etcd broke.
var WatchCacheReinit = &checks.Check{
	ID:        "apiserver-watch-cache-reinit",
	Component: collectors.APIServer,
	Title:     "API servers' caches are filled once",
	Doc:       watchCacheReinitDoc,
	Needs:     []collectors.Any{apiserver.WatchCaches},
	Remedies: []checks.Remedy{
		{Title: "read why", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'ListAndWatch|watch chan error|Error.*watch' | tail -20", Risk: checks.ReadOnly},
	},
	Run: watchCacheReinit,
}

const (
	reinitSource = "heuristic"
	// While it starts, an instance fills all of its caches.
	reinitAfter = 2 * time.Minute
	// Some resources have several caches, as service accounts have.
	reinitEver = 5
)

func watchCacheReinit(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.WatchCaches) {
		if c.Elapsed == 0 && !slices.ContainsFunc(slices.Collect(maps.Values(c.Started)), func(g metrics.Growth) bool { return g.Lifetime > reinitEver }) && len(c.Failed) == 0 {
			p.OK(t, "none of %s was filled more than 5 times since it started", checks.Count(len(c.Started), "cache"))
			continue
		}
		if c.Elapsed == 0 {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "whether caches are filled anew now is not known: %s", c.Broken))
			continue
		}
		// One that was never filled before is that of a new resource.
		var again, failed []string
		for _, r := range slices.Sorted(maps.Keys(c.Started)) {
			if g := c.Started[r]; g.Window > 0 && g.Lifetime > g.Window {
				again = append(again, r)
			}
		}
		for _, r := range slices.Sorted(maps.Keys(c.Failed)) {
			if c.Failed[r].Window > 0 {
				failed = append(failed, r)
			}
		}
		in := "in " + checks.Span(c.Elapsed)
		var v *checks.Verdict
		switch {
		case c.Uptime > 0 && c.Uptime < reinitAfter:
			p.Nothing(t, "it started %s ago, and fills its caches", checks.Span(c.Uptime))
			continue
		case len(failed) > 0:
			v = p.Warn(t, "the cache of %s could not be filled %s", checks.List(failed, 3), in).Mark("failed")
		case len(again) > 0:
			v = p.Warn(t, "the cache of %s was filled anew %s", checks.List(again, 3), in)
		default:
			v = p.OK(t, "none of %s was filled anew %s", checks.Count(len(c.Started), "cache"), in)
		}
		for _, r := range slices.Concat(again, failed) {
			v.Mark("resource=" + r)
		}
		v.Saw(apiserver.WatchCaches, "filled anew", fmt.Sprint(len(again)+len(failed)), "0", reinitSource)
	}
}
