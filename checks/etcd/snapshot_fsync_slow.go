package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed snapshot_fsync_slow.md
var snapshotFsyncSlowDoc string

// SnapshotFsyncSlow looks for members that take long to write snapshots of the
// database.
var SnapshotFsyncSlow = &checks.Check{
	ID:        "etcd-snapshot-fsync-slow",
	Component: collectors.Etcd,
	Title:     "etcd members write snapshots of their database quickly",
	Doc:       snapshotFsyncSlowDoc,
	Needs:     []collectors.Any{etcd.SnapshotMetrics},
	Remedies: []checks.Remedy{
		{Title: "on the node, see how much the disk writes, and for whom", Command: "iostat -x 1 5 && pidstat -d 1 5", Risk: checks.ReadOnly},
		{Title: "see how large the database is", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{snapshotSlowAt},
	Run:        snapshotFsyncSlow,
}

const (
	snapshotSlow   = 10.0 // seconds [exp]
	snapshotSource = "heuristic"
	// snapshotRatio is the share that must be slower: snapshots are few, so
	// that one of ten is asked for instead of one of a hundred.
	snapshotRatio = 0.1
)

var snapshotLimits = []checks.Limit{{At: snapshotSlowAt, Seconds: snapshotSlow, Share: snapshotRatio, Status: checks.Warning, Source: snapshotSource}}

var snapshotSlowAt = checks.NewThreshold("warn", checks.InSeconds, snapshotSlow, "a snapshot of the database, which 9 of 10 must not exceed", snapshotSource)

func snapshotFsyncSlow(p *checks.Pass) {
	for m, s := range checks.Each(p, etcd.SnapshotMetrics) {
		saving, syncing := judge(s.Saving, p.Limits(snapshotLimits)), judge(s.Syncing, p.Limits(snapshotLimits))
		j, what := saving, "snapshots of the database take"
		if saving.Status == checks.Unknown || syncing.Status.Bad() && !saving.Status.Bad() {
			j, what = syncing, "writing snapshots that came from the leader takes"
		}
		if j.Status == checks.Unknown {
			p.Nothing(m, "it made no snapshot %s", j.during())
			continue
		}
		j.evidence(p.Judge(m, j.Status, "%s %s", what, j), etcd.SnapshotMetrics)
	}
}
