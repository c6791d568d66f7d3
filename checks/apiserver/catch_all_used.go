package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed catch_all_used.md
var catchAllUsedDoc string

// CatchAllUsed looks for requests that no flow schema knows.
var CatchAllUsed = &checks.Check{
	ID:        "apf-catch-all-used",
	Component: collectors.APIServer,
	Title:     "nearly all requests match a flow schema of their own",
	Doc:       catchAllUsedDoc,
	Needs:     []collectors.Any{apiserver.Fairness},
	Remedies: []checks.Remedy{
		{Title: "see whose they are", Command: "kubectl get --raw \"/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1\" | grep catch-all", Risk: checks.ReadOnly},
		{Title: "see whether schemas were deleted or changed", Command: "kubectl get flowschemas", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{catchAllShareAt},
	Run:        catchAllUsed,
}

const (
	// No public source has a number, and what is harmed by it is told by
	// apf-requests-rejected: it is advice. Healthy clusters have up to 2.4% over a
	// life that began an hour ago.
	catchAllShare  = 0.10
	catchAllSource = "heuristic"
)

var catchAllShareAt = checks.NewThreshold("warn", checks.InRatio, catchAllShare, "of the requests that no other level takes", catchAllSource)

func catchAllUsed(p *checks.Pass) {
	for t, f := range eachFairness(p) {
		var all, fallen float64
		when := "in " + checks.Span(f.Elapsed)
		for _, l := range f.Levels {
			n := l.Dispatched.Window
			if f.Elapsed == 0 {
				n = l.Dispatched.Lifetime
			}
			all += n
			if l.Name == "catch-all" {
				fallen += n
			}
		}
		if f.Elapsed == 0 {
			when = "since it started"
		}
		if all == 0 {
			p.Nothing(t, "no request was executed %s", when)
			continue
		}
		s := checks.OK
		if metrics.Exceeds(all, fallen, p.At(catchAllShareAt)) {
			s = checks.Info
		}
		p.Judge(t, s, "%s matched no flow schema of their own %s", shareOf(fallen, all, "request"), when).
			Saw(apiserver.Fairness, "in catch-all", percent(fallen/all), percent(p.At(catchAllShareAt)), catchAllSource).Number("share", fallen/all)
	}
}
