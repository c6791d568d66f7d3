package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed inodes.md
var inodesDoc string

// Inodes looks whether the file systems of the control plane have inodes left.
var Inodes = &checks.Check{
	ID:        "host-inodes",
	Component: collectors.Host,
	Title:     "the file systems of the control plane have inodes left",
	Doc:       inodesDoc,
	Needs:     []collectors.Any{host.Nodes, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see where the many files are", Command: `du --inodes -x --max-depth=3 /var | sort -n | tail -20`, Risk: checks.ReadOnly},
	},
	Run: inodes,
}

// Source: node_exporter's mixin, NodeFilesystemAlmostOutOfFiles.
const (
	inodesWarn     = 0.05
	inodesCritical = 0.03
)

func inodes(p *checks.Pass) {
	for f, d := range places(p, host.Storage) {
		if d.Inodes == 0 {
			continue
		}
		left := float64(d.FreeInodes) / float64(d.Inodes)
		s, limit := checks.OK, inodesWarn
		switch {
		case left < inodesCritical:
			s, limit = checks.Critical, inodesCritical
		case left < inodesWarn:
			s = checks.Warning
		}
		p.Judge(placeTarget(p, f), s, "%s has %d of %d inodes free (%s)", d.Mount, d.FreeInodes, d.Inodes, checks.Percent(left)).
			Saw(host.Storage, "freeInodes", checks.Percent(left), checks.Percent(limit), "node-mixin NodeFilesystemAlmostOutOfFiles").Mark("mount=" + d.Mount).Mark(f.marks...)
	}
}
