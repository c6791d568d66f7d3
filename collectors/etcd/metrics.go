package etcd

import (
	"strconv"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// scrapes lists the requests for a member's metrics over the window. All facts
// about one member share them.
func scrapes(s *collectors.Snapshot, t collectors.Target, want []metrics.Select) []collectors.Request {
	var urls []string
	for _, u := range member(s, t).Metrics {
		urls = append(urls, u+"/metrics")
	}
	if len(urls) == 0 {
		urls = []string{clientAddr(s, t) + "/metrics"}
	}
	return collectors.Scrapes(urls[0], urls[1:], want...)
}

// windowFact makes a fact of what each member's metrics say over the window.
func windowFact[T any](id, doc string, read func(metrics.Window) (T, error), want ...metrics.Select) *collectors.Fact[T] {
	return collectors.WindowFact(id, doc, []collectors.Any{Members}, MemberTargets,
		func(s *collectors.Snapshot, t collectors.Target) []collectors.Request { return scrapes(s, t, want) }, read)
}

// latencyFact makes a fact of one histogram, which older versions may have
// called by other names.
func latencyFact(id, doc, family string, older ...string) *collectors.Fact[metrics.Latency] {
	want := []metrics.Select{{Name: family}}
	for _, o := range older {
		want = append(want, metrics.Select{Name: o})
	}
	return windowFact(id, doc, func(w metrics.Window) (metrics.Latency, error) {
		l, ok := w.Latency(w.Last.First(append([]string{family}, older...)...))
		if !ok {
			return l, collectors.AbsentMetric(family)
		}
		return l, nil
	}, want...)
}

// missing is the gap of families that the endpoint does not serve: out of
// scope if its etcd is older than the minor version that brought them. The
// families must be asked for along with etcd_server_version.
func missing(w metrics.Window, since int, families ...string) *collectors.Gap {
	version := current(w.Last, "etcd_server_version", "server_version")
	if v, err := cluster.ParseRelease(version); err == nil && v.Major == 3 && v.Minor < since {
		return collectors.Gapf(collectors.OutOfScope, "etcd %s does not serve %s, which came with 3.%d", version, families[len(families)-1], since)
	}
	return collectors.AbsentMetric(families...)
}

// A Growth is a counter: since the process started, and over the window.
type Growth struct {
	Total   float64
	Delta   float64 // over the window; 0 unless Watched
	Watched bool    // the two looks can be compared
	Why     string  // why they cannot; empty if Watched
	Elapsed float64 // seconds between them
	Uptime  float64 // seconds since the process started; 0 if it does not say
}

// growth reads a counter. It is false if the last look does not have it.
func growth(w metrics.Window, family string, match ...metrics.Match) (Growth, bool) {
	total, ok := w.Last.Sum(family, match...)
	if !ok {
		return Growth{}, false
	}
	g := Growth{Total: total, Elapsed: w.Elapsed().Seconds(), Uptime: w.Uptime().Seconds()}
	d, ok := w.Delta(family, match...)
	switch {
	case !ok:
		g.Why = w.Broken
	case d < 0: // without a TYPE line, the window does not see it go backwards
		g.Why = family + " went backwards: it restarted"
	default:
		g.Delta, g.Watched = d, true
	}
	return g, true
}

// growthFact makes a fact of one counter.
func growthFact(id, doc, family string) *collectors.Fact[Growth] {
	return windowFact(id, doc, func(w metrics.Window) (Growth, error) {
		g, ok := growth(w, family)
		if !ok {
			return g, collectors.AbsentMetric(family)
		}
		return g, nil
	}, metrics.Select{Name: family})
}

// FsyncLatency is how long the write-ahead log takes to reach the disk: no
// write of the cluster is done before a majority of members did this.
var FsyncLatency = latencyFact("etcd.fsync", "how long each member takes to sync its write-ahead log to disk, in seconds", "etcd_disk_wal_fsync_duration_seconds",
	"etcd_wal_fsync_durations_seconds") // to 2.3

// CommitLatency is how long a commit of the database file takes.
var CommitLatency = latencyFact("etcd.backend-commit", "how long each member takes to commit its database to disk, in seconds", "etcd_disk_backend_commit_duration_seconds")

// LeaderChanges counts the leaders that a member saw come. The first is one.
var LeaderChanges = growthFact("etcd.leader-changes", "how many changes of leader each member saw", "etcd_server_leader_changes_seen_total")

// HeartbeatFailures counts the heartbeats that a leader sent late.
var HeartbeatFailures = growthFact("etcd.heartbeat-failures", "how many heartbeats each member, as leader, sent late", "etcd_server_heartbeat_send_failures_total")

// parseID reads a member's ID as metrics have it.
func parseID(hex string) uint64 {
	id, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return 0
	}
	return id
}
