package etcd

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed wal_fsync_slow.md
var walFsyncSlowDoc string

// WALFsyncSlow looks for disks that hold up the write-ahead log, and tells
// whether the cluster's writes wait for them.
var WALFsyncSlow = &checks.Check{
	ID:        "etcd-wal-fsync-slow",
	Component: collectors.Etcd,
	Title:     "every etcd member syncs its write-ahead log quickly",
	Doc:       walFsyncSlowDoc,
	Needs:     append([]collectors.Any{etcd.FsyncLatency, etcd.ServerMetrics, etcd.Members, etcd.CommandLines}, load...),
	Remedies: []checks.Remedy{
		{Title: "on the node, see who else writes to the disk", Command: "iostat -x 1 5 && pidstat -d 1 5", Risk: checks.ReadOnly},
		{Title: "see what the disk can do: 99% of the syncs should take under 10 ms", Command: "fio --name=wal --rw=write --ioengine=sync --fdatasync=1 --bs=2300 --size=22m --directory=/var/lib/etcd", Risk: checks.Disruptive},
		{Title: "until etcd has a disk of its own, put it before others", Command: "ionice -c2 -n0 -p $(pgrep -x etcd)", Risk: checks.Safe},
	},
	Thresholds: []*checks.Threshold{fsyncHealthyAt, fsyncUneasyAt, fsyncWarnAt, fsyncCriticalAt},
	Run:        walFsyncSlow,
}

const (
	// A sync of over a second is longer than the election timeout.
	fsyncCritical = 1.0
	fsyncWarn     = 0.5
	fsyncSource   = "etcd-mixin etcdHighFsyncDurations"
	// fsyncUneasy is a bucket's edge well above any disk that etcd is fit to
	// run on; no public source has a number between 10 and 500 ms [exp].
	fsyncUneasy       = 0.128
	fsyncUneasySource = "heuristic"
	// fsyncHealthy is the bucket's edge above the 10 ms of etcd's documentation.
	fsyncHealthy       = 0.016
	fsyncHealthySource = "etcd documentation, hardware: 99% under 10 ms"
)

var fsyncLimits = []checks.Limit{
	{At: fsyncCriticalAt, Seconds: fsyncCritical, Share: 0.01, Status: checks.Critical, Source: fsyncSource},
	{At: fsyncWarnAt, Seconds: fsyncWarn, Share: 0.01, Status: checks.Warning, Source: fsyncSource},
	{At: fsyncUneasyAt, Seconds: fsyncUneasy, Share: 0.01, Status: checks.Warning, Source: fsyncUneasySource},
	{At: fsyncHealthyAt, Seconds: fsyncHealthy, Share: 0.01, Status: checks.Info, Source: fsyncHealthySource},
}

var (
	fsyncHealthyAt  = checks.NewThreshold("info", checks.InSeconds, fsyncHealthy, "a sync of the log, which 99 of 100 must not exceed", fsyncHealthySource)
	fsyncUneasyAt   = checks.NewThreshold("early-warn", checks.InSeconds, fsyncUneasy, "a sync of the log, which 99 of 100 must not exceed", fsyncUneasySource)
	fsyncWarnAt     = checks.NewThreshold("warn", checks.InSeconds, fsyncWarn, "a sync of the log, which 99 of 100 must not exceed", fsyncSource)
	fsyncCriticalAt = checks.NewThreshold("critical", checks.InSeconds, fsyncCritical, "a sync of the log, which 99 of 100 must not exceed", fsyncSource)
)

func walFsyncSlow(p *checks.Pass) {
	w := newWritePath(p, etcd.FsyncLatency, p.Limits(fsyncLimits))
	for m, l := range checks.Each(p, etcd.FsyncLatency) {
		j := judge(l, p.Limits(fsyncLimits))
		if j.Status == checks.Unknown {
			p.Nothing(m, "nothing was written to the log %s", j.during())
			continue
		}
		status, note := j.Status, ""
		if status.Bad() {
			note = w.note(m)
			if !w.on(m) {
				// The others make a majority without it.
				status = min(status, checks.Warning)
			}
		}
		v := p.Judge(m, status, "log syncs take %s%s", j, note)
		w.mark(v, m)
		j.evidence(v, etcd.FsyncLatency)
		flags, _ := checks.Of(p, etcd.CommandLines, m) // without them, etcd's defaults
		outlasting(v, j, "heartbeat", flags.Heartbeat())
		outlasting(v, j, "election timeout", flags.Election())
		if j.Status.Bad() && j.Basis == checks.OverWindow {
			loaded(p, v, m)
		}
	}
}

// outlasting tells how many syncs took longer than one of etcd's own times:
// that many were noticed by the other members, whatever the p99 is.
func outlasting(v *checks.Verdict, j judged, what string, limit time.Duration) {
	h := j.Lifetime
	if j.Basis == checks.OverWindow {
		h = j.Window
	}
	n, edge := h.Above(limit.Seconds())
	v.Saw(etcd.FsyncLatency, "longer than the "+what, fmt.Sprintf("%.0f of %.0f above %s", n, h.Count, checks.Seconds(edge)), checks.Seconds(limit.Seconds()), "--heartbeat-interval, --election-timeout").
		Number("over "+what, n)
}
