package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed memory_high.md
var memoryHighDoc string

// MemoryHigh looks for members whose memory, the mapped database left out,
// fills their node.
var MemoryHigh = &checks.Check{
	ID:        "etcd-memory-high",
	Component: collectors.Etcd,
	Title:     "every etcd member leaves its node memory",
	Doc:       memoryHighDoc,
	Needs:     []collectors.Any{etcd.ProcessMetrics, etcd.DB, cluster.Machines},
	Remedies: []checks.Remedy{
		{Title: "see how many watches and keys it keeps in memory", Command: "curl -s http://127.0.0.1:2381/metrics | grep -E '^etcd_debugging_mvcc_(watcher|keys)_total|^go_memstats_heap_inuse_bytes'", Risk: checks.ReadOnly},
		{Title: "see which resource has the most objects", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(storage|resource)_objects' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{memoryWarnAt},
	Run:        memoryHigh,
}

const (
	memoryWarn   = 0.5 // of the node's memory, the database left out [exp]
	memorySource = "heuristic"
)

var memoryWarnAt = checks.NewThreshold("warn", checks.InRatio, memoryWarn, "of the node's memory, the database left out", memorySource)

func memoryHigh(p *checks.Pass) {
	machines, gap := checks.One(p, cluster.Machines)
	for m, x := range checks.Each(p, etcd.ProcessMetrics) {
		node := machines[m.Node].Memory
		switch {
		case m.Node == "":
			p.Nothing(m, "it holds %s, on a machine that is no node of this cluster, or is not known", checks.Bytes(int64(x.Memory)))
			continue
		case node <= 0:
			if gap == nil {
				gap = collectors.Gapf(collectors.Absent, "its node does not tell its memory")
			}
			p.Unknown(m, gap).Saw(etcd.ProcessMetrics, "resident", checks.Bytes(int64(x.Memory)), "", "")
			continue
		}
		db, dbGap := checks.Of(p, etcd.DB, m)
		own, note := x.Memory, ""
		if dbGap == nil {
			own = max(0, x.Memory-float64(db.Size))
			note = " besides its mapped database"
		}
		s := checks.OK
		if own > p.At(memoryWarnAt)*node {
			s = checks.Warning
		}
		p.Judge(m, s, "holds %s%s, %s of its node's %s", checks.Bytes(int64(own)), note, checks.Percent(own/node), checks.Bytes(int64(node))).
			Saw(etcd.ProcessMetrics, "resident", checks.Bytes(int64(x.Memory)), checks.Percent(p.At(memoryWarnAt))+" of the node", memorySource).
			Number("used", own/node)
	}
}
