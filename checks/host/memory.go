package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed memory.md
var memoryDoc string

// Memory looks whether the node has memory to spare.
var Memory = &checks.Check{
	ID:        "host-memory",
	Component: collectors.Host,
	Title:     "the node has memory to spare",
	Doc:       memoryDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see who takes it", Command: `ps axo rss,comm --sort=-rss | head -15`, Risk: checks.ReadOnly},
	},
	Run: memory,
}

// Source: node_exporter's mixin, NodeMemoryHighUtilization. The lower limit is
// [exp], and critical only together with stalls.
const (
	memoryWarn     = 0.10
	memoryCritical = 0.03
)

func memory(p *checks.Pass) {
	loads(p, "memory", func(t collectors.Target, s host.Span) {
		m := s.Last.Memory
		left := float64(m.Available) / float64(max(m.Total, 1))
		st := checks.OK
		stalls := s.Last.Pressure["memory"]
		switch {
		case left < memoryCritical && stalls.Full.Avg60 > stallWarn:
			st = checks.Critical // it is short, and everything waits for it
		case left < memoryWarn:
			st = checks.Warning
		}
		p.Judge(t, st, "%s of %s of memory are available (%s)", checks.Bytes(int64(m.Available)), checks.Bytes(int64(m.Total)), checks.Percent(left)).
			Saw(host.Loads, "available", checks.Percent(left), checks.Percent(memoryWarn), "node-mixin NodeMemoryHighUtilization")
	})
}
