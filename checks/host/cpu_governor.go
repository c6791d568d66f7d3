package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed cpu_governor.md
var cpuGovernorDoc string

// CPUGovernor looks whether processors run at full speed.
var CPUGovernor = &checks.Check{
	ID:        "host-cpu-governor",
	Component: collectors.Host,
	Title:     "processors run at full speed",
	Doc:       cpuGovernorDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "set it until the next start", Command: `cpupower frequency-set -g performance`, Risk: checks.Safe},
	},
	Run: cpuGovernor,
}

func cpuGovernor(p *checks.Pass) {
	d, gap := checks.One(p, host.Loads)
	t := self(p)
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case len(d.Last.Governors) == 0:
		p.Nothing(t, "the frequency of the processors is not this kernel's to choose")
	case d.Last.Governors["powersave"] > 0:
		p.Info(t, "%s by the governor powersave", checks.Count(d.Last.Governors["powersave"], "processor")+" run").Saw(host.Loads, "governor", "powersave", "performance", "etcd tuning guide")
	default:
		p.OK(t, "no processor is run by the governor powersave").Saw(host.Loads, "governor", "", "", "")
	}
}
