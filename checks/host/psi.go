package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed psi.md
var psiDoc string

// PSI looks whether tasks do not stall for disks or memory.
var PSI = &checks.Check{
	ID:        "host-psi",
	Component: collectors.Host,
	Title:     "tasks do not stall for disks or memory",
	Doc:       psiDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see it over time", Command: `grep . /proc/pressure/*`, Risk: checks.ReadOnly},
	},
	Run: psi,
}

// No public source [exp]: so it is to last for minutes, and ends at warning.
const fullWarn = 10.0

var words = map[string]string{"cpu": "processors", "io": "disks", "memory": "memory"}

func psi(p *checks.Pass) {
	d, gap := checks.One(p, host.Loads)
	if gap != nil {
		p.Unknown(self(p), gap)
		return
	}
	for _, kind := range [...]string{"cpu", "io", "memory"} {
		t := collectors.Target{Component: collectors.Host, Name: kind, Node: nodeName(p)}
		x, ok := d.Last.Pressure[kind]
		if !ok {
			p.Unknown(t, d.Gap("pressure/"+kind))
			continue
		}
		st := checks.OK
		if kind != "cpu" && x.Full.Avg60 > fullWarn && x.Full.Avg300 > fullWarn {
			st = checks.Warning
		}
		p.Judge(t, st, "some task waited for %s for %.0f%% of the last 10 s, all for %.0f%%; over five minutes %.0f%% and %.0f%%", words[kind], x.Some.Avg10, x.Full.Avg10, x.Some.Avg300, x.Full.Avg300).
			Saw(host.Loads, "full", fmt.Sprintf("%.0f%%", x.Full.Avg300), fmt.Sprintf("%.0f%%", fullWarn), "heuristic")
	}
}
