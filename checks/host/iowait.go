package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed iowait.md
var iowaitDoc string

// Iowait looks whether processors do not wait for disks.
var Iowait = &checks.Check{
	ID:        "host-iowait",
	Component: collectors.Host,
	Title:     "processors do not wait for disks",
	Doc:       iowaitDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see which disk", Command: `iostat -xd 1 10`, Risk: checks.ReadOnly},
	},
	Run: iowait,
}

// No public source [exp]: a share of the window alone is no trouble, and has to
// be one of the last minute, too.
const (
	iowaitWarn = 0.30
	stallWarn  = 10.0
)

func iowait(p *checks.Pass) {
	shares(p, func(t collectors.Target, s host.Span, total float64) {
		share := (s.Last.CPU.IOWait - s.First.CPU.IOWait) / total
		io, ok := s.Last.Pressure["io"]
		st := checks.OK
		if share > iowaitWarn && ok && io.Some.Avg60 > stallWarn {
			st = checks.Warning
		}
		p.Judge(t, st, "processors waited for disks for %s of %s", checks.Percent(share), checks.Seconds(s.Seconds())).
			Saw(host.Loads, "iowait", checks.Percent(share), checks.Percent(iowaitWarn), "heuristic; and over 10% of stalls over a minute")
	})
}
