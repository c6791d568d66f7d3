package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed fd_exhaustion.md
var fdExhaustionDoc string

// FDExhaustion looks for members that are about to run out of file descriptors.
var FDExhaustion = &checks.Check{
	ID:        "etcd-fd-exhaustion",
	Component: collectors.Etcd,
	Title:     "every etcd member has file descriptors to spare",
	Doc:       fdExhaustionDoc,
	Needs:     []collectors.Any{etcd.OpenFiles},
	Remedies: []checks.Remedy{
		{Title: "on {node}, see which peers hold the connections", Command: "ss -tnp | grep etcd | awk '{print $5}' | cut -d: -f1 | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "on {node}, see the limit of the process", Command: "grep 'open files' /proc/$(pgrep -x etcd)/limits", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{fdWarnAt, fdCriticalAt},
	Run:        fdExhaustion,
}

// Source: node_exporter's mixin, NodeFileDescriptorLimit, warns at 70% and is
// critical at 90%. etcd itself logs a warning from 80% on.
const (
	fdWarn     = 0.70
	fdCritical = 0.90
	fdSource   = "node-mixin NodeFileDescriptorLimit"
)

var (
	fdWarnAt     = checks.NewThreshold("warn", checks.InRatio, fdWarn, "of the file descriptors that the process may open", fdSource)
	fdCriticalAt = checks.NewThreshold("critical", checks.InRatio, fdCritical, "of the file descriptors that the process may open", fdSource)
)

func fdExhaustion(p *checks.Pass) {
	for m, d := range checks.Each(p, etcd.OpenFiles) {
		used := d.Open / d.Limit
		s, limit := checks.Level(used, p.At(fdWarnAt), p.At(fdCriticalAt))
		p.Judge(m, s, "%.0f of %.0f file descriptors are open (%s)", d.Open, d.Limit, checks.Percent(used)).
			Saw(etcd.OpenFiles, "open", checks.Percent(used), checks.Percent(limit), fdSource)
	}
}
