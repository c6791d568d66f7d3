package host

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed clock.md
var clockDoc string

// Clock looks whether the node's clock is right.
var Clock = &checks.Check{
	ID:        "host-clock",
	Component: collectors.Host,
	Title:     "the node's clock is right",
	Doc:       clockDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see what keeps it", Command: `chronyc tracking || timedatectl timesync-status`, Risk: checks.ReadOnly},
	},
	Run: clock,
}

// Source: node_exporter's mixin, NodeClockSkewDetected.
const offsetWarn = 50 * time.Millisecond

func clock(p *checks.Pass) {
	loads(p, "clock", func(t collectors.Target, s host.Span) {
		c := s.Last.Clock
		off := c.Offset.Abs()
		switch {
		case c.Synced && off > offsetWarn:
			p.Warn(t, "the clock is off by %s", checks.Seconds(off.Seconds())).Saw(host.Loads, "offset", checks.Seconds(off.Seconds()), checks.Seconds(offsetWarn.Seconds()), "node-mixin NodeClockSkewDetected")
		case !c.Synced:
			p.Info(t, "nothing keeps the clock right, as far as the kernel knows; how far it is off is not known").Saw(host.Loads, "synced", "false", "true", "node-mixin NodeClockNotSynchronising")
		default:
			p.OK(t, "the clock is kept right, to within %s", checks.Seconds(c.MaxError.Seconds())).Saw(host.Loads, "offset", checks.Seconds(off.Seconds()), checks.Seconds(offsetWarn.Seconds()), "node-mixin NodeClockSkewDetected")
		}
	})
}
