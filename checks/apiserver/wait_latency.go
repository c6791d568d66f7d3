package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed wait_latency.md
var waitLatencyDoc string

// WaitLatency looks for priority levels whose requests wait long for a seat.
var WaitLatency = &checks.Check{
	ID:        "apf-wait-latency",
	Component: collectors.APIServer,
	Title:     "requests get a seat at once",
	Doc:       waitLatencyDoc,
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.SeatHolders},
	Remedies: []checks.Remedy{
		{Title: "see which requests wait, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "see each level's seats and queues", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_priority_levels", Risk: checks.ReadOnly},
	},
	Run: waitLatency,
}

// No public source gives a limit: the check ends at warning.
var waitWarn = checks.Limit{Seconds: 0.1, Share: 0.01, Status: checks.Warning, Source: "expert heuristic"}

func waitLatency(p *checks.Pass) {
	for t, f := range eachFairness(p) {
		var worst checks.LatencyVerdict
		var of string
		thin := false
		for _, l := range f.Levels {
			v := checks.JudgeLatency(l.Wait, waitWarn)
			thin = thin || v.TooFew
			if v.Status > worst.Status || v.Status == worst.Status && v.P99.Value > worst.P99.Value {
				worst, of = v, l.Name
			}
		}
		if worst.Status == checks.Unknown {
			p.Nothing(t, "no request went through a queue in the window")
			continue
		}
		whose := ""
		if worst.Status != checks.OK {
			whose = filler(p, t, of)
		}
		v := p.Judge(t, worst.Status, "level %s waits longest for a seat: %s%s", of, worst, whose).
			Saw(apiserver.Fairness, of+" waits above "+checks.Seconds(worst.Edge), checks.Percent(worst.Above/worst.Count), checks.Percent(worst.Limit.Share), worst.Limit.Source).
			Number("p99", worst.P99.Value).Number("count", worst.Count).Mark("level=" + of)
		if thin {
			v.TooFew()
		}
	}
}
