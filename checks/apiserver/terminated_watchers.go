package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed terminated_watchers.md
var terminatedWatchersDoc string

// TerminatedWatchers looks for watchers that are cut off because they are too slow.
var TerminatedWatchers = &checks.Check{
	ID:        "apiserver-terminated-watchers",
	Component: collectors.APIServer,
	Title:     "watchers keep up with what they are sent",
	Doc:       terminatedWatchersDoc,
	Needs:     []collectors.Any{apiserver.WatchCaches},
	Remedies: []checks.Remedy{
		{Title: "see which clients watch what, and how much is sent", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(longrunning_requests|watch_events_total)' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{terminatedRateAt},
	Run:        terminatedWatchers,
}

const (
	// No public source: the check ends at warning.
	terminatedRate = 1.0 // a second
	terminatedFew  = 10.0
	cutOffSource   = "heuristic"
)

var terminatedRateAt = checks.NewThreshold("warn", checks.InRate, terminatedRate, "watches closed for being slow", terminatedSource)

func terminatedWatchers(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.WatchCaches) {
		if c.Elapsed == 0 && c.Terminated.Lifetime == 0 {
			p.OK(t, "no watcher was cut off since it started")
			continue
		}
		if c.Elapsed == 0 {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "%.0f since it started; whether watchers are cut off now is not known: %s", c.Terminated.Lifetime, c.Broken))
			continue
		}
		n := c.Terminated.Window
		s := checks.OK
		if n >= terminatedFew && n/c.Elapsed.Seconds() > p.At(terminatedRateAt) {
			s = checks.Warning
		}
		p.Judge(t, s, "%s cut off in %s as too slow, %.0f since it started", checks.Count(n, "watcher"), checks.Span(c.Elapsed), c.Terminated.Lifetime).
			Saw(apiserver.WatchCaches, "cut off", fmt.Sprintf("%.1f/s", n/c.Elapsed.Seconds()), fmt.Sprintf("%.0f/s", p.At(terminatedRateAt)), cutOffSource).Number("count", n)
	}
}
