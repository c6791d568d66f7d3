package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed disk_full.md
var diskFullDoc string

// DiskFull looks whether the file systems of the control plane have room.
var DiskFull = &checks.Check{
	ID:        "host-disk-full",
	Component: collectors.Host,
	Title:     "the file systems of the control plane have room",
	Doc:       diskFullDoc,
	Needs:     []collectors.Any{host.Nodes, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see what fills it", Command: `du -xh --max-depth=2 /var/log /var/lib | sort -h | tail -20`, Risk: checks.ReadOnly},
		{Title: "let journald keep less", Command: `journalctl --vacuum-size=200M`, Risk: checks.Safe},
	},
	Run: diskFull,
}

// Source: node_exporter's mixin, NodeFilesystemAlmostOutOfSpace: warning under 5%,
// critical under 3%. The kubelet's default is to evict at nodefs.available < 10%.
const (
	spaceWarn     = 0.05
	spaceEvict    = 0.10
	spaceCritical = 0.03
	// A tenth of a disk of several TiB is no want [exp].
	spacePlenty = 50 << 30
)

func diskFull(p *checks.Pass) {
	for f, d := range places(p, host.Storage) {
		t := placeTarget(p, f)
		if d.Size == 0 {
			continue
		}
		left := float64(d.Free) / float64(d.Size)
		warn := spaceWarn
		if d.What != host.DataPlace {
			warn = spaceEvict
		}
		s, limit := checks.OK, warn
		switch {
		case d.Free == 0 || left < spaceCritical && d.Free < spacePlenty:
			s, limit = checks.Critical, spaceCritical
		case left < warn && d.Free < spacePlenty:
			s = checks.Warning
		}
		p.Judge(t, s, "%s (%s, %s) has %s of %s free (%s)", d.Mount, d.What, d.Type, checks.Bytes(int64(d.Free)), checks.Bytes(int64(d.Size)), checks.Percent(left)).
			Saw(host.Storage, "free", checks.Percent(left), checks.Percent(limit), "node-mixin NodeFilesystemAlmostOutOfSpace").Mark("mount=" + d.Mount).Mark(f.marks...)
	}
}
