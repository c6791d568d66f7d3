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
		used(p, t, "tracked connections", s.Last.Conntrack, conntrackWarn, conntrackCritical, "node-mixin NodeHighNumberConntrackEntriesUsed")
	})
}
