package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed goroutines_high.md
var goroutinesHighDoc string

// GoroutinesHigh looks for instances in which something hangs and piles up.
var GoroutinesHigh = &checks.Check{
	ID:        "apiserver-goroutines-high",
	Component: collectors.APIServer,
	Title:     "API servers do not pile up goroutines",
	Doc:       goroutinesHighDoc,
	Needs:     []collectors.Any{apiserver.Loads},
	Remedies: []checks.Remedy{
		{Title: "see what they wait for", Command: "kubectl get --raw \"/debug/pprof/goroutine?debug=1\" | head -60", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{goroutinesBaseAt},
	Run:        goroutinesHigh,
}

const (
	// No public source. An idle API server has some 2000, and each watch adds a
	// few; so many more than that, and growing by a fifth in the window, is not
	// load but something that does not end.
	goroutinesBase  = 5000.0
	goroutinesEach  = 10.0
	goroutinesGrow  = 1.2
	goroutineSource = "heuristic"
)

var goroutinesBaseAt = checks.NewThreshold("base", checks.InNumber, goroutinesBase, "goroutines, beyond those that clients need", goroutineSource)

func goroutinesHigh(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.Loads) {
		first, last := l.Goroutines[0], l.Goroutines[1]
		limit := p.At(goroutinesBaseAt) + goroutinesEach*l.LongRunning
		words := fmt.Sprintf("%.0f goroutines, with %s open", last, checks.Count(l.LongRunning, "long-lived request"))
		var v *checks.Verdict
		switch {
		case last > limit && l.Elapsed > 0 && first > limit && last > goroutinesGrow*first:
			v = p.Warn(t, "%s; %.0f more than %s before", words, last-first, checks.Span(l.Elapsed))
		case last > limit:
			v = p.Info(t, "%s", words)
		default:
			v = p.OK(t, "%s", words)
		}
		v.Saw(apiserver.Loads, "goroutines", fmt.Sprintf("%.0f, %.0f", first, last), fmt.Sprintf("%.0f", limit), goroutineSource).Number("goroutines", last)
	}
}
