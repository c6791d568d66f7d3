package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed memory_high.md
var memoryHighDoc string

// MemoryHigh looks for instances whose memory fills their node.
var MemoryHigh = &checks.Check{
	ID:        "apiserver-memory-high",
	Component: collectors.APIServer,
	Title:     "every API server leaves its node memory",
	Doc:       memoryHighDoc,
	Needs:     []collectors.Any{apiserver.Processes, cluster.Machines},
	Remedies: []checks.Remedy{
		{Title: "see which resource has the most objects, and how many watches there are", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(storage|resource)_objects' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
		{Title: "see whether it was killed for want of memory", Command: "kubectl -n kube-system get pods -l component=kube-apiserver -o custom-columns=POD:.metadata.name,RESTARTS:.status.containerStatuses[*].restartCount,LAST:.status.containerStatuses[*].lastState.terminated.reason", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{memoryWarnAt},
	Run:        memoryHigh,
}

const (
	// No public source: RULES has 70% and, after node-mixin, 90%. The kernel
	// takes from the page cache first, so that it ends at warning.
	memoryWarn   = 0.70
	memorySource = "heuristic; node-mixin NodeMemoryHighUtilization has 90% of the node"
)

var memoryWarnAt = checks.NewThreshold("warn", checks.InRatio, memoryWarn, "of the memory that it may use", memorySource)

func memoryHigh(p *checks.Pass) {
	machines, gap := checks.One(p, cluster.Machines)
	for t, x := range checks.Each(p, apiserver.Processes) {
		node := machines[t.Node].Memory
		switch {
		case x.Memory <= 0:
			p.Unknown(t, collectors.AbsentMetric("process_resident_memory_bytes"))
			continue
		case t.Node == "":
			p.Nothing(t, "it holds %s; which node it runs on is not known from here", checks.Bytes(int64(x.Memory)))
			continue
		case node <= 0:
			if gap == nil {
				gap = collectors.Gapf(collectors.Absent, "its node does not tell its memory")
			}
			p.Unknown(t, gap)
			continue
		}
		s := checks.OK
		if x.Memory > p.At(memoryWarnAt)*node {
			s = checks.Warning
		}
		p.Judge(t, s, "holds %s, %s of its node's %s", checks.Bytes(int64(x.Memory)), checks.Percent(x.Memory/node), checks.Bytes(int64(node))).
			Saw(apiserver.Processes, "resident", checks.Bytes(int64(x.Memory)), checks.Percent(p.At(memoryWarnAt))+" of the node", memorySource).
			Number("used", x.Memory/node)
	}
}
