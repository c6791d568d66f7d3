package etcd

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed compaction_stalled.md
var compactionStalledDoc string

// CompactionStalled looks for a history that nobody cuts off any more.
var CompactionStalled = &checks.Check{
	ID:        "etcd-compaction-stalled",
	Component: collectors.Etcd,
	Title:     "etcd's history is compacted",
	Doc:       compactionStalledDoc,
	Needs:     []collectors.Any{etcd.HistoryMetrics},
	Remedies: []checks.Remedy{
		{Title: "see whether the API servers compact, and what they say of it", Command: "kubectl -n kube-system logs -l component=kube-apiserver --tail=2000 | grep -i compact", Risk: checks.ReadOnly},
		{Title: "see whether compaction was switched off", Command: "grep etcd-compaction-interval /etc/kubernetes/manifests/kube-apiserver.yaml", Risk: checks.ReadOnly},
	},
	Run: compactionStalled,
}

const (
	// compactionWarn is three of the API server's intervals of 5 minutes: it
	// compacts what is 5 minutes old or more, every 5 minutes. That does not
	// stop a control plane within hours, so it never goes beyond a warning.
	compactionWarn   = 15 * time.Minute
	compactionSource = "API server: --etcd-compaction-interval=5m"
)

func compactionStalled(p *checks.Pass) {
	for m, h := range checks.Each(p, etcd.HistoryMetrics) {
		kept := h.Revision - max(0, h.Compacted)
		var v *checks.Verdict
		switch {
		case !h.HasAge:
			p.Nothing(m, "etcd before 3.5 does not tell when it was last compacted; it keeps %s", checks.Count(kept, "revision"))
			continue
		case h.SinceCompaction < 0 && h.Uptime == 0:
			p.Unknown(m, collectors.Gapf(collectors.Absent, "no compaction since it started, and it does not tell when that was"))
			continue
		case h.SinceCompaction < 0 && h.Uptime <= compactionWarn:
			v = p.OK(m, "no compaction yet in the %s since it started", checks.Span(h.Uptime))
		case h.SinceCompaction < 0:
			v = p.Warn(m, "no compaction in the %s since it started", checks.Span(h.Uptime))
		case h.SinceCompaction > compactionWarn:
			v = p.Warn(m, "the last compaction was %s ago; %s are kept", checks.Span(h.SinceCompaction), checks.Count(kept, "revision"))
		default:
			v = p.OK(m, "the last compaction was %s ago; %s are kept", checks.Span(h.SinceCompaction), checks.Count(kept, "revision"))
		}
		age := h.SinceCompaction
		if age < 0 {
			age = h.Uptime
		}
		v.Saw(etcd.HistoryMetrics, "since the last compaction", checks.Span(age), checks.Span(compactionWarn), compactionSource).
			Number("age", age.Seconds()).Number("kept", float64(kept))
	}
}
