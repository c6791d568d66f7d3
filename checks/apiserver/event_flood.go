package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed event_flood.md
var eventFloodDoc string

// EventFlood looks for events being written at a rate that crowds out the rest.
var EventFlood = &checks.Check{
	ID:        "apiserver-event-flood",
	Component: collectors.APIServer,
	Title:     "events are a small part of what is written",
	Doc:       eventFloodDoc,
	Needs:     []collectors.Any{apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see what the events are about", Command: "kubectl get events -A --sort-by=.lastTimestamp | tail -50", Risk: checks.ReadOnly},
		{Title: "count them by reason", Command: "kubectl get events -A -o jsonpath='{range .items[*]}{.reason} {.source.component}{\"\\n\"}{end}' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "when who writes them is mended, see how many are left; they go by themselves after the API server's --event-ttl, 1h by default", Command: "kubectl get events -A -o name | wc -l", Risk: checks.ReadOnly, Recipe: "events-prune"},
	},
	Thresholds: []*checks.Threshold{eventRateAt, eventShareAt},
	Run:        eventFlood,
}

const (
	// No public source: the check ends at warning.
	eventRate   = 50.0 // a second
	eventShare  = 0.30 // of all writes
	eventSource = "expert heuristic"
	// Below this rate a large share says only that little else is written.
	eventRateForShare = 10.0
)

var (
	eventRateAt  = checks.NewThreshold("rate", checks.InRate, eventRate, "events written", eventSource)
	eventShareAt = checks.NewThreshold("share", checks.InRatio, eventShare, "of all writes that are events", eventSource)
)

func eventFlood(p *checks.Pass) {
	t := collectors.Target{Component: collectors.APIServer}
	known, note := watched(p, t)
	if len(known) == 0 {
		return
	}
	var events, writes float64
	for _, traffic := range known {
		write := func(r apiserver.Row) bool { return r.Write() && !r.LongRunning() }
		writes += traffic.Rate(write)
		events += traffic.Rate(func(r apiserver.Row) bool { return write(r) && r.Resource == "events" })
	}
	if writes == 0 {
		p.Nothing(t, "no write request in the window")
		return
	}
	status := checks.OK
	if events > p.At(eventRateAt) || events >= eventRateForShare && events/writes > p.At(eventShareAt) {
		status = checks.Warning
	}
	p.Judge(t, status, "%.1f events written a second, %s of all writes%s", events, checks.Percent(events/writes), note).
		Saw(apiserver.Requests, "events a second", fmt.Sprintf("%.1f", events), fmt.Sprintf("%.0f", p.At(eventRateAt)), eventSource).
		Saw(apiserver.Requests, "share of writes", checks.Percent(events/writes), checks.Percent(p.At(eventShareAt))+fmt.Sprintf(" from %.0f/s on", eventRateForShare), eventSource).
		Number("rate", events).Number("share", events/writes)
}
