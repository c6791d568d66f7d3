package etcd

import (
	"cmp"
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
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
	Needs:     []collectors.Any{etcd.HistoryMetrics, apiserver.Instances},
	Remedies: []checks.Remedy{
		{Title: "see whether the API servers compact, and what they say of it", Command: "kubectl -n kube-system logs -l component=kube-apiserver --tail=2000 | grep -i compact", Risk: checks.ReadOnly},
		{Title: "see whether compaction was switched off", Command: "grep etcd-compaction-interval /etc/kubernetes/manifests/kube-apiserver.yaml", Risk: checks.ReadOnly, Recipe: "etcd-compact"},
	},
	Run: compactionStalled,
}

const (
	// compactionInterval is what the API server takes without the flag: every 5
	// minutes it compacts what is 5 minutes old or more.
	compactionInterval = 5 * time.Minute
	// compactionRounds is how many intervals may pass. A history that is not
	// compacted does not stop a control plane within hours, so it never goes
	// beyond a warning.
	compactionRounds = 3
	compactionSource = "API server: --etcd-compaction-interval, 5m without it"
)

// compactionDue is how old the last compaction may be, by what the API servers
// were told: the one with the shortest interval compacts for all. Where all were
// told never to, somebody else has to, and off is true.
func compactionDue(p *checks.Pass) (due time.Duration, off bool) {
	fleet, _ := checks.One(p, apiserver.Instances)
	if len(fleet.Known) == 0 {
		return compactionRounds * compactionInterval, false
	}
	least := time.Duration(0)
	for _, i := range fleet.Known {
		// Without the flag, or without a pod to show it, as if by default.
		interval, err := time.ParseDuration(cmp.Or(i.Pod.Flags["etcd-compaction-interval"], compactionInterval.String()))
		if err == nil && interval > 0 && (least == 0 || interval < least) {
			least = interval
		}
	}
	if least == 0 {
		return compactionInterval, true
	}
	return compactionRounds * max(least, compactionInterval), false
}

func compactionStalled(p *checks.Pass) {
	due, off := compactionDue(p)
	why := ""
	if off {
		why = "; every API server was told not to compact (--etcd-compaction-interval=0)"
	}
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
		case h.SinceCompaction < 0 && h.Uptime <= due:
			v = p.OK(m, "no compaction yet in the %s since it started", checks.Span(h.Uptime))
		case h.SinceCompaction < 0:
			v = p.Warn(m, "no compaction in the %s since it started%s", checks.Span(h.Uptime), why)
		case h.SinceCompaction > due:
			v = p.Warn(m, "the last compaction was %s ago; %s are kept%s", checks.Span(h.SinceCompaction), checks.Count(kept, "revision"), why)
		default:
			v = p.OK(m, "the last compaction was %s ago; %s are kept", checks.Span(h.SinceCompaction), checks.Count(kept, "revision"))
		}
		age := h.SinceCompaction
		if age < 0 {
			age = h.Uptime
		}
		v.Saw(etcd.HistoryMetrics, "since the last compaction", checks.Span(age), checks.Span(due), compactionSource).
			Number("age", age.Seconds()).Number("kept", float64(kept))
	}
}
