package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed requests_rejected.md
var requestsRejectedDoc string

// RequestsRejected looks for requests that API Priority and Fairness turned
// away, and says whose.
var RequestsRejected = &checks.Check{
	ID:        "apf-requests-rejected",
	Component: collectors.APIServer,
	Title:     "API Priority and Fairness rejects no request",
	Doc:       requestsRejectedDoc,
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.SeatHolders},
	Remedies: []checks.Remedy{
		{Title: "see which requests wait, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "see each level's seats and queues", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_priority_levels", Risk: checks.ReadOnly},
		{Title: "give the client that floods a level of its own", Command: "kubectl get flowschemas,prioritylevelconfigurations", Risk: checks.ReadOnly},
	},
	Run: requestsRejected,
}

func requestsRejected(p *checks.Pass) {
	for t, f := range checks.Each(p, apiserver.Fairness) {
		if len(f.Levels) == 0 {
			p.Nothing(t, "API Priority and Fairness is off")
			continue
		}
		var now, ever, system, worst float64
		var level apiserver.Level
		var how apiserver.Rejection
		for _, l := range f.Levels {
			refused := l.Refused()
			now += refused.Window
			ever += refused.Lifetime
			if l.System() {
				system += refused.Window
			}
			for r, g := range l.Rejected {
				if g.Window > worst || g.Window == worst && worst > 0 && r.Schema < how.Schema {
					worst, level, how = g.Window, l, r
				}
			}
		}
		switch {
		case f.Elapsed == 0 && ever > 0:
			p.Info(t, "%.0f requests rejected since the process started; whether it goes on is not known: %s", ever, f.Broken)
		case f.Elapsed == 0:
			p.OK(t, "no request rejected since the process started")
		case now == 0 && ever == 0:
			p.OK(t, "no request rejected in %s, nor since the process started", checks.Span(f.Elapsed))
		case now == 0:
			p.OK(t, "no request rejected in %s; %.0f since the process started", checks.Span(f.Elapsed), ever)
		default:
			note := ""
			if system > 0 {
				note = fmt.Sprintf("; %.0f of the control plane's own", system)
			}
			// RULES: any rate is a warning, of the control plane's own requests
			// critical. No public source: it ends at warning.
			v := p.Warn(t, "%.0f requests rejected in %s%s; most: %.0f of level %s, schema %s (%s)%s", now, checks.Span(f.Elapsed), note, worst, level.Name, how.Schema, how.Reason, filler(p, t, level.Name)).
				Saw(apiserver.Fairness, "rejected", fmt.Sprintf("%.1f/s", now/f.Elapsed.Seconds()), "0", "expert heuristic").
				Saw(apiserver.Fairness, level.Name+" seats", fmt.Sprintf("%.0f", level.Executing[1]), fmt.Sprintf("%.0f", level.Seats), "apiserver_flowcontrol_*").
				Number("rejected", now).Number("rate", now/f.Elapsed.Seconds()).Mark("level="+level.Name, "schema="+how.Schema)
			if system > 0 {
				v.Mark("system")
			}
		}
	}
}
