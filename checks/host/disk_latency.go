package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed disk_latency.md
var diskLatencyDoc string

// DiskLatency looks whether the disk under etcd answers at once.
var DiskLatency = &checks.Check{
	ID:        "host-disk-latency",
	Component: collectors.Host,
	Title:     "the disk under etcd answers at once",
	Doc:       diskLatencyDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see the disk as the kernel counts it", Command: `iostat -xd 1 10`, Risk: checks.ReadOnly},
		{Title: "measure what etcd asks of it; this loads the disk", Command: `fio --rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300 --name=etcd --directory=/var/lib/etcd`, Risk: checks.Disruptive},
		{Title: "see who else writes", Command: `iotop -oPa`, Risk: checks.ReadOnly},
	},
	Run: diskLatency,
}

// Source: etcd's hardware guide, 10 ms for the 99th percentile of fdatasync; as a
// mean of all requests [exp].
const awaitWarn = 0.010

func diskLatency(p *checks.Pass) {
	t, io, ok := judgedDisk(p)
	if !ok {
		return
	}
	if io.ops < fewOps {
		p.OK(t, "%s: too few requests in %s to time the disk (%.0f)", io.name, checks.Seconds(io.seconds), io.ops).
			Saw(host.Loads, "requests", fmt.Sprintf("%.0f", io.ops), "", "")
		return
	}
	s := checks.OK
	if io.await > awaitWarn {
		s = checks.Warning
	}
	v := p.Judge(t, s, "%s", io.line()).Saw(host.Loads, "await", checks.Seconds(io.await), checks.Seconds(awaitWarn), "etcd hardware guide: 10 ms for fdatasync")
	v.Number("await", io.await)
	if io.busiest != "" {
		v.Saw(host.Loads, "writes most", io.busiest, "", "")
	}
}
