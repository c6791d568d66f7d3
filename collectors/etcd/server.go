package etcd

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Server is what a member's metrics say of itself.
type Server struct {
	ID          uint64 // 0 if it does not say
	Version     string // "3.6.8"
	ClusterWide string // the version that all members speak: "3.6"; empty before 3.4
	HasLeader   bool
	HadLeader   bool // at the first look; as HasLeader where there was only one
	IsLeader    bool
	Learner     bool
	Uptime      time.Duration // 0 if it does not say
	Restarted   bool          // between the looks
	// Lost is why the second look found nothing although the first did: what
	// else is here is then of the first.
	Lost *collectors.Gap
}

// ServerMetrics is what each member's metrics say of itself.
var ServerMetrics = &collectors.Fact[Server]{
	ID:      "etcd.server",
	Doc:     "each member's ID, version, role and uptime, and whether it has a leader, by its metrics",
	Needs:   []collectors.Any{Members},
	Targets: MemberTargets,
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return scrapes(s, t, []metrics.Select{
			{Name: "etcd_server_id", By: []string{"server_id"}},
			{Name: "etcd_server_version", By: []string{"server_version"}},
			{Name: "etcd_cluster_version", By: []string{"cluster_version"}},
			{Name: "etcd_server_has_leader"},
			{Name: "etcd_server_is_leader"},
			{Name: "etcd_server_is_learner"},
		})
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (Server, error) {
		w, err := collectors.ReadWindow(rs)
		if err != nil {
			return Server{}, err
		}
		sv, err := readServer(w)
		if rs[0].Gap == nil {
			sv.Lost = rs[1].Gap
		}
		return sv, err
	},
}

func readServer(w metrics.Window) (Server, error) {
	leader, ok := w.Last.Sum("etcd_server_has_leader")
	if !ok {
		return Server{}, collectors.AbsentMetric("etcd_server_has_leader")
	}
	sv := Server{
		ID:          parseID(current(w.Last, "etcd_server_id", "server_id")),
		Version:     current(w.Last, "etcd_server_version", "server_version"),
		ClusterWide: current(w.Last, "etcd_cluster_version", "cluster_version"),
		HasLeader:   leader > 0, HadLeader: leader > 0,
		Uptime: w.Uptime(),
	}
	is, _ := w.Last.Sum("etcd_server_is_leader")
	learner, _ := w.Last.Sum("etcd_server_is_learner")
	sv.IsLeader, sv.Learner = is > 0, learner > 0
	if w.First != nil {
		if had, ok := w.First.Sum("etcd_server_has_leader"); ok {
			sv.HadLeader = had > 0
		}
		a, okA := w.First.Sum(metrics.StartTime)
		b, okB := w.Last.Sum(metrics.StartTime)
		sv.Restarted = okA && okB && a != b
	}
	return sv, nil
}

// current returns the label of the series that is 1: etcd says by such series
// what version it is, and leaves those of earlier ones at 0.
func current(m *metrics.Set, family, label string) string {
	for _, x := range m.Series(family) {
		if x.Value == 1 {
			return x.Get(label)
		}
	}
	return ""
}
