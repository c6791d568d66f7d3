package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed disk_errors.md
var diskErrorsDoc string

// DiskErrors looks whether the kernel tells of no failing disk.
var DiskErrors = &checks.Check{
	ID:        "host-disk-errors",
	Component: collectors.Host,
	Title:     "the kernel tells of no failing disk",
	Doc:       diskErrorsDoc,
	Needs:     []collectors.Any{host.Nodes, host.Kernels},
	Remedies: []checks.Remedy{
		{Title: "see all of it", Command: `dmesg -T | grep -iE "error|remount"`, Risk: checks.ReadOnly},
		{Title: "ask the disk", Command: `smartctl -a /dev/sda`, Risk: checks.ReadOnly},
	},
	Run: diskErrors,
}

func diskErrors(p *checks.Pass) {
	t := self(p)
	k, gap := checks.One(p, host.Kernels)
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case k.From == "" && len(k.Missed) > 0:
		p.Unknown(t, k.Missed[0].Gap())
	case len(k.Disk) > 0:
		p.Warn(t, "the kernel's log tells of a failing disk or file system: %s", k.Disk[len(k.Disk)-1]).Saw(host.Kernels, "disk", fmt.Sprint(len(k.Disk)), "0", "the kernel's log")
	default:
		p.OK(t, "the kernel's log tells of no failing disk").Saw(host.Kernels, "disk", "0", "0", "")
	}
}
