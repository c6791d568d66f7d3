package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed steal.md
var stealDoc string

// Steal looks whether the hypervisor gives the node its processors.
var Steal = &checks.Check{
	ID:        "host-steal",
	Component: collectors.Host,
	Title:     "the hypervisor gives the node its processors",
	Doc:       stealDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see it over time", Command: `vmstat 1 10`, Risk: checks.ReadOnly},
	},
	Run: steal,
}

// No public source [exp].
const (
	stealInfo = 0.05
	stealWarn = 0.20
)

func steal(p *checks.Pass) {
	shares(p, func(t collectors.Target, s host.Span, total float64) {
		share := (s.Last.CPU.Steal - s.First.CPU.Steal) / total
		st := checks.OK
		switch {
		case share > stealWarn:
			st = checks.Warning
		case share > stealInfo:
			st = checks.Info
		}
		p.Judge(t, st, "the hypervisor took %s of the processors' time over %s", checks.Percent(share), checks.Seconds(s.Seconds())).
			Saw(host.Loads, "steal", checks.Percent(share), checks.Percent(stealWarn), "heuristic").Number("steal", share)
	})
}
