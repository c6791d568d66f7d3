package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed queue_depth.md
var queueDepthDoc string

// QueueDepth looks for priority levels whose requests have to wait.
var QueueDepth = &checks.Check{
	ID:        "apf-queue-depth",
	Component: collectors.APIServer,
	Title:     "requests do not wait for a seat",
	Doc:       queueDepthDoc,
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.SeatHolders},
	Remedies: []checks.Remedy{
		{Title: "see which requests wait, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
	},
	Run: queueDepth,
}

const queueSource = "expert heuristic"

func queueDepth(p *checks.Pass) {
	for t, f := range eachFairness(p) {
		var all float64
		var worst apiserver.Level
		for _, l := range f.Levels {
			all += l.Queued[1]
			if least := min(l.Queued[0], l.Queued[1]); least > 0 && least > min(worst.Queued[0], worst.Queued[1]) {
				worst = l
			}
		}
		status, when := checks.Warning, fmt.Sprintf("%.0f waited %s before", worst.Queued[0], checks.Span(f.Elapsed))
		switch {
		case worst.Name == "" && all == 0:
			p.OK(t, "no request waits for a seat").Number("queued", 0)
			continue
		case worst.Name == "":
			p.OK(t, "%s for a seat, of a level where none waited %s before", waiting(all), checks.Span(f.Elapsed)).Number("queued", all)
			continue
		case f.Elapsed == 0: // a moment
			status, when = checks.Info, "how long is not known"
		}
		p.Judge(t, status, "%s for a seat of level %s, which has %.0f; %s%s", waiting(worst.Queued[1]), worst.Name, worst.Seats, when, filler(p, t, worst.Name)).
			Saw(apiserver.Fairness, worst.Name+" queued", fmt.Sprintf("%.0f, %.0f", worst.Queued[0], worst.Queued[1]), "0 at one of two looks", queueSource).
			Number("queued", worst.Queued[1]).Number("seats", worst.Seats).Mark("level=" + worst.Name)
	}
}
