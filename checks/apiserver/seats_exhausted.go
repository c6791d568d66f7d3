package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed seats_exhausted.md
var seatsExhaustedDoc string

// SeatsExhausted looks for priority levels all of whose seats are taken.
var SeatsExhausted = &checks.Check{
	ID:        "apf-seats-exhausted",
	Component: collectors.APIServer,
	Title:     "every priority level has seats left",
	Doc:       seatsExhaustedDoc,
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.SeatHolders},
	Remedies: []checks.Remedy{
		{Title: "see which requests hold the seats, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "see how much each level may borrow and lend", Command: "kubectl get prioritylevelconfigurations -o yaml", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{seatsWarnAt},
	Run:        seatsExhausted,
}

const (
	// No public source: the check ends at warning.
	seatsWarn   = 0.90
	seatsSource = "expert heuristic"
	// seatsBlocked is from when on requests that wait at both looks wait for
	// seats: one takes up to 10 (APF's maximumSeatsLimit).
	seatsBlocked = 0.50
	// A level of a few seats is full whenever it does anything.
	fewSeats = 10
)

var seatsWarnAt = checks.NewThreshold("warn", checks.InRatio, seatsWarn, "of the seats of a priority level", seatsSource)

func seatsExhausted(p *checks.Pass) {
	for t, f := range eachFairness(p) {
		var fullest, full apiserver.Level
		for _, l := range f.Levels {
			if l.Exempt() || l.Seats <= 0 {
				continue
			}
			if l.Executing[1]/l.Seats >= fullest.Executing[1]/max(1, fullest.Seats) {
				fullest = l
			}
			taken := min(l.Executing[0], l.Executing[1])
			// A list takes several seats, and waits although fewer are free.
			blocked := min(l.Queued[0], l.Queued[1]) > 0 && taken >= seatsBlocked*l.Seats
			both := taken >= p.At(seatsWarnAt)*l.Seats || blocked
			if both && (l.Seats >= fewSeats || l.Queued[1] > 0) && l.Queued[1] >= full.Queued[1] {
				full = l
			}
		}
		if fullest.Name == "" {
			p.Nothing(t, "no priority level has a limit")
			continue
		}
		if full.Name == "" {
			p.OK(t, "the fullest level is %s, with %.0f of %.0f seats taken", fullest.Name, fullest.Executing[1], fullest.Seats).
				Number("used", fullest.Executing[1]/max(1, fullest.Seats))
			continue
		}
		looks := fmt.Sprintf("at both looks, %s apart", checks.Span(f.Elapsed))
		status := checks.Warning
		if f.Elapsed == 0 { // one look is a moment
			status, looks = checks.Info, "at the one look that there was"
		}
		p.Judge(t, status, "level %s has %.0f of %.0f seats taken %s; %s%s", full.Name, full.Executing[1], full.Seats, looks, waiting(full.Queued[1]), filler(p, t, full.Name)).
			Saw(apiserver.Fairness, full.Name+" seats", fmt.Sprintf("%.0f, %.0f", full.Executing[0], full.Executing[1]), fmt.Sprintf("%s of %.0f", checks.Percent(p.At(seatsWarnAt)), full.Seats), seatsSource).
			Number("used", full.Executing[1]/full.Seats).Number("queued", full.Queued[1]).Mark("level=" + full.Name)
	}
}

func waiting(n float64) string {
	if n == 0 {
		return "no request waits"
	}
	return fmt.Sprintf("%s %s", checks.Count(n, "request"), verb(int(n), "waits", "wait"))
}
