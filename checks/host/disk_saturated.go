package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed disk_saturated.md
var diskSaturatedDoc string

// DiskSaturated looks whether the disk under etcd has no long queue.
var DiskSaturated = &checks.Check{
	ID:        "host-disk-saturated",
	Component: collectors.Host,
	Title:     "the disk under etcd has no long queue",
	Doc:       diskSaturatedDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see who writes", Command: `iotop -oPa`, Risk: checks.ReadOnly},
		{Title: "see the queue", Command: `iostat -xd 1 10`, Risk: checks.ReadOnly},
	},
	Run: diskSaturated,
}

// Source: node_exporter's mixin, NodeDiskIOSaturation, for 30 minutes.
const queueWarn = 10.0

func diskSaturated(p *checks.Pass) {
	t, io, ok := judgedDisk(p)
	if !ok {
		return
	}
	s := checks.OK
	if io.queue > queueWarn {
		s = checks.Warning
	}
	p.Judge(t, s, "%s: %.1f requests wait or are worked on at a time, %s busy over %s", io.name, io.queue, checks.Percent(io.busy), checks.Seconds(io.seconds)).
		Saw(host.Loads, "queue", fmt.Sprintf("%.1f", io.queue), fmt.Sprint(queueWarn), "node-mixin NodeDiskIOSaturation").Number("queue", io.queue)
}
