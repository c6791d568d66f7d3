package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed cpu_busy.md
var cpuBusyDoc string

// CPUBusy looks whether the node has processor time to spare.
var CPUBusy = &checks.Check{
	ID:        "host-cpu-busy",
	Component: collectors.Host,
	Title:     "the node has processor time to spare",
	Doc:       cpuBusyDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see who takes it", Command: `top -bn1 | head -20`, Risk: checks.ReadOnly},
	},
	Run: cpuBusy,
}

// Source: node_exporter's mixin, NodeSystemSaturation: load over 2 a core for 15 minutes.
const loadWarn = 2.0

// lateWarn is how long the threads of a component wait for a processor in each
// second, added up, until the load is theirs [exp].
const lateWarn = 0.5

func cpuBusy(p *checks.Pass) {
	loads(p, "average", func(t collectors.Target, s host.Span) {
		a, n := s.Last.Average, float64(max(s.Last.CPUs, 1))
		per := a.Fifteen / n
		st, late, who := checks.OK, 0.0, host.Role("")
		if s.First != nil && s.Seconds() > 0 {
			for r, q := range s.Last.Queued {
				if then, ok := s.First.Queued[r]; ok && (q-then)/s.Seconds() > late {
					late, who = (q-then)/s.Seconds(), r
				}
			}
		}
		words := ""
		switch {
		case per > loadWarn && late > lateWarn:
			st, words = checks.Warning, fmt.Sprintf("; threads of %s waited for one for %s in each second", who, checks.Seconds(late))
		case per > loadWarn:
			st, words = checks.Info, "; the control plane gets its share"
		}
		p.Judge(t, st, "load %.1f, %.1f, %.1f over 1, 5 and 15 minutes on %s: %.1f each%s", a.One, a.Five, a.Fifteen, checks.Count(n, "processor"), per, words).
			Saw(host.Loads, "load15", fmt.Sprintf("%.1f", per), fmt.Sprint(loadWarn), "node-mixin NodeSystemSaturation").Number("load", per)
	})
}
