package etcd

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A History is how much of the past a member keeps.
type History struct {
	Revision  int64 // of the last write
	Compacted int64 // the last revision that compaction removed; -1 or 0 if none was since the process started
	// SinceCompaction is how long ago the last compaction ended, by its clock
	// against ours. It is negative if none did since the process started;
	// before 3.5 it is not told, and HasAge is false.
	SinceCompaction time.Duration
	HasAge          bool
	Uptime          time.Duration // 0 if it does not say
	Writes          Growth        // revisions over the window
}

// HistoryMetrics is how much of the past each member keeps.
var HistoryMetrics = windowFact("etcd.history", "each member's revision, and what compaction left of the earlier ones", readHistory,
	metrics.Select{Name: "etcd_debugging_mvcc_current_revision"},
	metrics.Select{Name: "etcd_debugging_mvcc_compact_revision"},
	metrics.Select{Name: "etcd_debugging_mvcc_db_compaction_last"},
	metrics.Select{Name: "etcd_server_version", By: []string{"server_version"}},
)

func readHistory(w metrics.Window) (History, error) {
	rev, ok := growth(w, "etcd_debugging_mvcc_current_revision")
	if !ok {
		return History{}, missing(w, 5, "etcd_debugging_mvcc_current_revision")
	}
	compacted, ok := w.Last.Sum("etcd_debugging_mvcc_compact_revision")
	if !ok {
		return History{}, missing(w, 5, "etcd_debugging_mvcc_compact_revision")
	}
	h := History{Revision: int64(rev.Total), Compacted: int64(compacted), Uptime: w.Uptime(), Writes: rev}
	at, ok := w.Last.Sum("etcd_debugging_mvcc_db_compaction_last")
	h.HasAge = ok
	switch {
	case at <= 0:
		h.SinceCompaction = -1
	default:
		h.SinceCompaction = max(0, w.To.Sub(time.Unix(int64(at), 0)))
	}
	return h, nil
}

// A Defrag says whether a member is being defragmented.
type Defrag struct {
	Now      bool
	Applying bool          // a snapshot that it received from the leader
	Before   bool          // at the first look
	Watched  time.Duration // between the looks; 0 if there was only one, or it restarted
}

// DefragMetrics says whether each member is being defragmented.
var DefragMetrics = windowFact("etcd.defrag", "whether each member is being defragmented", func(w metrics.Window) (Defrag, error) {
	const family = "etcd_disk_defrag_inflight"
	now, ok := w.Last.Sum(family)
	if !ok {
		return Defrag{}, missing(w, 5, family)
	}
	applying, _ := w.Last.Sum(applyingSnapshot)
	d := Defrag{Now: now > 0, Applying: applying > 0, Watched: w.Elapsed()}
	if w.First != nil {
		before, _ := w.First.Sum(family)
		d.Before = before > 0
	}
	return d, nil
},
	metrics.Select{Name: "etcd_disk_defrag_inflight"},
	metrics.Select{Name: applyingSnapshot},
	metrics.Select{Name: "etcd_server_version", By: []string{"server_version"}},
)

const applyingSnapshot = "etcd_server_snapshot_apply_in_progress_total" // a gauge, in spite of its name
