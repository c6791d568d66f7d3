package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed fd_exhaustion.md
var fdExhaustionDoc string

// FDExhaustion looks for instances that run out of file descriptors, after
// which they accept no connection and reach no etcd.
var FDExhaustion = &checks.Check{
	ID:        "apiserver-fd-exhaustion",
	Component: collectors.APIServer,
	Title:     "API servers have file descriptors left",
	Doc:       fdExhaustionDoc,
	Needs:     []collectors.Any{apiserver.Processes},
	Remedies: []checks.Remedy{
		{Title: "on its node, see whose connections they are", Command: "ss -tnp state established '( sport = :6443 )' | awk '{print $4}' | cut -d: -f1 | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{fdWarnAt, fdCriticalAt},
	Run:        fdExhaustion,
}

const (
	// Source: prometheus/node_exporter node-mixin, NodeFileDescriptorLimit.
	fdWarn     = 0.70
	fdCritical = 0.90
	fdSource   = "node-mixin NodeFileDescriptorLimit"
)

var (
	fdWarnAt     = checks.NewThreshold("warn", checks.InRatio, fdWarn, "of the file descriptors that the process may open", fdSource)
	fdCriticalAt = checks.NewThreshold("critical", checks.InRatio, fdCritical, "of the file descriptors that the process may open", fdSource)
)

func fdExhaustion(p *checks.Pass) {
	for t, x := range checks.Each(p, apiserver.Processes) {
		if x.MaxFDs <= 0 {
			p.Unknown(t, collectors.AbsentMetric("process_max_fds"))
			continue
		}
		used := x.OpenFDs / x.MaxFDs
		status, limit := checks.Level(used, p.At(fdWarnAt), p.At(fdCriticalAt))
		p.Judge(t, status, "%.0f of %.0f file descriptors are open (%s)", x.OpenFDs, x.MaxFDs, percent(used)).
			Saw(apiserver.Processes, "open/max", checks.Percent(used), checks.Percent(limit), fdSource).
			Saw(apiserver.Processes, "open", fmt.Sprintf("%.0f", x.OpenFDs), fmt.Sprintf("%.0f", x.MaxFDs), "process_max_fds").
			Number("used", used)
	}
}
