package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed fd.md
var fdDoc string

// FD looks whether the node has file descriptors to spare.
var FD = &checks.Check{
	ID:        "host-fd",
	Component: collectors.Host,
	Title:     "the node has file descriptors to spare",
	Doc:       fdDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see the numbers", Command: `cat /proc/sys/fs/file-nr`, Risk: checks.ReadOnly},
	},
	Run: fd,
}

// Source: node-mixin NodeFileDescriptorLimit.
const (
	filesWarn     = 0.70
	filesCritical = 0.90
)

func fd(p *checks.Pass) {
	loads(p, "files", func(t collectors.Target, s host.Span) {
		used(p, t, "open files", s.Last.Files, filesWarn, filesCritical, "node-mixin NodeFileDescriptorLimit")
	})
}
