package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed conntrack.md
var conntrackDoc string

// Conntrack looks whether there is room for connections to be tracked.
var Conntrack = &checks.Check{
	ID:        "host-conntrack",
	Component: collectors.Host,
	Title:     "there is room for connections to be tracked",
	Doc:       conntrackDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see the numbers", Command: `sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max`, Risk: checks.ReadOnly},
	},
	Run: conntrack,
}

// Source: node-mixin NodeHighNumberConntrackEntriesUsed.
const (
	conntrackWarn     = 0.75
	conntrackCritical = 2
)

func conntrack(p *checks.Pass) {
	loads(p, "conntrack", func(t collectors.Target, s host.Span) {
		x := s.Last.Conntrack
		if x.Limit == 0 {
			p.Nothing(t, "there is no limit of tracked connections")
			return
		}
		used := float64(x.Used) / float64(x.Limit)
		st, limit := checks.Level(used, conntrackWarn, conntrackCritical)
		p.Judge(t, st, "%d of %d tracked connections (%s)", x.Used, x.Limit, checks.Percent(used)).Saw(host.Loads, "used", checks.Percent(used), checks.Percent(limit), "node-mixin NodeHighNumberConntrackEntriesUsed")
	})
}
