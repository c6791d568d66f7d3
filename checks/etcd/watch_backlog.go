package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed watch_backlog.md
var watchBacklogDoc string

// WatchBacklog looks for members that are behind with telling what changed.
var WatchBacklog = &checks.Check{
	ID:        "etcd-watch-backlog",
	Component: collectors.Etcd,
	Title:     "etcd tells its watchers what changed",
	Doc:       watchBacklogDoc,
	Needs:     []collectors.Any{etcd.WatchMetrics},
	Remedies: []checks.Remedy{
		{Title: "see whether the API servers' caches are behind too", Command: "kubectl get --raw /metrics | grep -E '^apiserver_watch_cache_read_wait_seconds_(sum|count)'", Risk: checks.ReadOnly},
		{Title: "if lists hold up watches on one port, give HTTP a port of its own in the static pod's manifest", Command: "vi /etc/kubernetes/manifests/etcd.yaml # --listen-client-http-urls", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{pendingEventsAt, slowShareAt},
	Run:        watchBacklog,
}

const (
	pendingEvents = 10000.0 // at both looks [exp]
	slowShare     = 0.1     // of the watches, at both looks [exp]
	slowFew       = 10.0
	backlogSource = "heuristic"
)

var (
	pendingEventsAt = checks.NewThreshold("events", checks.InNumber, pendingEvents, "events waiting to be sent to watchers, at both looks", backlogSource)
	slowShareAt     = checks.NewThreshold("slow-share", checks.InRatio, slowShare, "of the watches that are slow, at both looks", backlogSource)
)

func watchBacklog(p *checks.Pass) {
	for m, w := range checks.Each(p, etcd.WatchMetrics) {
		pending, slow := w.Pending.Least(), w.Slow.Least()
		behind := pending > p.At(pendingEventsAt) || slow >= slowFew && slow > p.At(slowShareAt)*w.Open
		var v *checks.Verdict
		switch {
		case behind && w.Slow.Looks > 1:
			v = p.Warn(m, "%s of %.0f %s behind at both looks, and %s at least to be sent", checks.Count(slow, "watcher"), w.Open, are(slow), waitingEvents(pending))
		case behind:
			v = p.Info(m, "%s of %.0f %s behind, and %s to be sent, at the one look that there was", checks.Count(slow, "watcher"), w.Open, are(slow), waitingEvents(pending))
		default:
			v = p.OK(m, "%.0f of %s behind, %s to be sent", w.Slow.Last, checks.Count(w.Open, "watcher"), waitingEvents(w.Pending.Last))
		}
		v.Saw(etcd.WatchMetrics, "pending events", fmt.Sprintf("%.0f, %.0f", w.Pending.First, w.Pending.Last), fmt.Sprintf("%.0f", p.At(pendingEventsAt)), backlogSource).
			Saw(etcd.WatchMetrics, "slow watchers", fmt.Sprintf("%.0f, %.0f", w.Slow.First, w.Slow.Last), checks.Percent(p.At(slowShareAt)), backlogSource).
			Number("pending", pending).Number("slow", slow)
	}
}

func waitingEvents(n float64) string {
	if n == 1 {
		return "1 event waits"
	}
	return checks.Count(n, "event") + " wait"
}

func are(n float64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
