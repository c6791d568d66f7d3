package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Snapshots is what a member did with snapshots of the database: those it
// wrote, those it sent to members that were too far behind, and those it got.
type Snapshots struct {
	Saving  metrics.Latency // of making a snapshot of the database, seconds
	Syncing metrics.Latency // of writing one that came from another to disk, seconds
	// Failures of sending and of receiving.
	Sent, Received Growth
	// Under way at the last look: sending, receiving, and putting one in the
	// place of the database.
	Sending, Receiving, Applying float64
}

// SnapshotMetrics is what each member does with snapshots.
var SnapshotMetrics = windowFact("etcd.snapshots", "how long each member's snapshots take, those under way and those that failed", func(w metrics.Window) (Snapshots, error) {
	var s Snapshots
	var saving, syncing bool
	s.Saving, saving = w.Latency("etcd_disk_backend_snapshot_duration_seconds")
	s.Syncing, syncing = w.Latency("etcd_snap_db_fsync_duration_seconds")
	if !saving && !syncing {
		return s, collectors.AbsentMetric("etcd_disk_backend_snapshot_duration_seconds", "etcd_snap_db_fsync_duration_seconds")
	}
	// What has a peer's label is not served before there was one.
	s.Sent = count(w, "etcd_network_snapshot_send_failures")
	s.Received = count(w, "etcd_network_snapshot_receive_failures")
	s.Sending, _ = w.Last.Sum("etcd_network_snapshot_send_inflights_total")
	s.Receiving, _ = w.Last.Sum("etcd_network_snapshot_receive_inflights_total")
	s.Applying, _ = w.Last.Sum("etcd_server_snapshot_apply_in_progress_total")
	return s, nil
},
	metrics.Select{Name: "etcd_disk_backend_snapshot_duration_seconds"},
	metrics.Select{Name: "etcd_snap_db_fsync_duration_seconds"},
	metrics.Select{Name: "etcd_network_snapshot_send_failures"},
	metrics.Select{Name: "etcd_network_snapshot_receive_failures"},
	metrics.Select{Name: "etcd_network_snapshot_send_inflights_total"},
	metrics.Select{Name: "etcd_network_snapshot_receive_inflights_total"},
	metrics.Select{Name: "etcd_server_snapshot_apply_in_progress_total"},
)

// count reads a counter that is not served before it counts something: of an
// endpoint that serves the rest its absence means none.
func count(w metrics.Window, family string) Growth {
	if g, ok := growth(w, family); ok {
		return g
	}
	return Growth{Watched: w.OK(), Why: w.Broken, Elapsed: w.Elapsed().Seconds(), Uptime: w.Uptime().Seconds()}
}
