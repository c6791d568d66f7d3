package vitals

import (
	"maps"
	"math"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// etcdGroup tells who leads, and of each member how fast its disk and its
// peers are, how full its database is and how far behind it is.
var etcdGroup = Group{
	Component: collectors.Etcd,
	Needs: []collectors.Any{
		etcd.Roles, etcd.LeaderChanges, etcd.FsyncLatency, etcd.CommitLatency, etcd.PeerMetrics,
		etcd.DB, etcd.ProposalMetrics, etcd.HowFar,
	},
	Read: readEtcd,
}

func readEtcd(s *collectors.Snapshot, add func(Vital)) {
	etcdLeader(s, add)
	members, _ := etcd.Roles.Answers(s)
	for _, m := range members {
		t := m.Target
		if l, gap := etcd.FsyncLatency.Of(s, t); gap == nil {
			addP99(t, "fsync p99", l, add)
		}
		if l, gap := etcd.CommitLatency.Of(s, t); gap == nil {
			addP99(t, "commit p99", l, add)
		}
		if p, gap := etcd.PeerMetrics.Of(s, t); gap == nil {
			addSlowestPeer(t, p, add)
		}
		if db, gap := etcd.DB.Of(s, t); gap == nil {
			add(Vital{Target: t, Name: "db size", Value: float64(db.Size), Unit: "B", Basis: checks.AtInstant})
			add(Vital{Target: t, Name: "db in use", Value: float64(db.InUse), Unit: "B", Basis: checks.AtInstant})
			switch {
			case db.Quota > 0:
				add(Vital{Target: t, Name: "db quota", Value: float64(db.Quota), Unit: "B", Basis: checks.AtInstant})
			case db.Quota < 0:
				add(Vital{Target: t, Name: "db quota", Value: -1, Unit: "B", Basis: checks.AtInstant, Text: "unlimited"})
			}
		}
		if p, gap := etcd.ProposalMetrics.Of(s, t); gap == nil {
			add(Vital{Target: t, Name: "pending", Value: float64(p.Pending), Basis: checks.AtInstant})
		}
		if h, gap := etcd.HowFar.Of(s, t); gap == nil {
			add(Vital{Target: t, Name: "apply lag", Value: float64(h.Committed - h.Applied), Basis: checks.AtInstant})
		}
	}
}

func etcdLeader(s *collectors.Snapshot, add func(Vital)) {
	roles, _ := etcd.Roles.Answers(s)
	leaders, known := 0.0, false
	name := ""
	for _, r := range roles {
		if r.Gap != nil {
			continue
		}
		known = true
		if r.Value.IsLeader {
			leaders++
			name = r.Target.Name
		}
	}
	if known {
		add(Vital{Target: etcd.Cluster, Name: "leader", Value: leaders, Basis: checks.AtInstant, Text: name})
	}
	// Each member sees each change: the one that saw most tells.
	var now, ever float64
	watched, told := false, false
	changes, _ := etcd.LeaderChanges.Answers(s)
	for _, c := range changes {
		if c.Gap != nil {
			continue
		}
		told, ever = true, max(ever, c.Value.Total)
		if c.Value.Watched {
			watched, now = true, max(now, c.Value.Delta)
		}
	}
	if watched {
		add(Vital{Target: etcd.Cluster, Name: "leader changes", Value: now, Basis: checks.OverWindow})
	}
	if told {
		add(Vital{Target: etcd.Cluster, Name: "leader changes", Value: ever, Basis: checks.OverLifetime})
	}
}

// addP99 adds the p99 of the window, or where that holds nothing, of the
// lifetime.
func addP99(t collectors.Target, name string, l metrics.Latency, add func(Vital)) {
	h, basis := l.Window, checks.OverWindow
	if h.Count == 0 {
		h, basis = l.Lifetime, checks.OverLifetime
	}
	if q, ok := h.Quantile(0.99); ok {
		add(Vital{Target: t, Name: name, Value: q.Value, Unit: "s", Basis: basis, AtLeast: q.Beyond, Buckets: spread(h)})
	}
}

// spread is how observations fall into buckets, without those at both ends that
// are empty.
func spread(h metrics.Histogram) []Bucket {
	var out []Bucket
	over, below, last := 0.0, 0.0, -1
	for _, b := range h.Buckets {
		n := b.Count - below
		x := Bucket{Over: over, UpTo: b.LE, Count: max(0, n)}
		if math.IsInf(b.LE, 1) {
			x.UpTo = 0
		}
		over, below = b.LE, b.Count
		if n <= 0 && len(out) == 0 {
			continue
		}
		out = append(out, x)
		if n > 0 {
			last = len(out) - 1
		}
	}
	return out[:last+1]
}

// addSlowestPeer adds the p99 of the round trips to the slowest peer that
// there is a connection to.
func addSlowestPeer(t collectors.Target, p etcd.Peers, add func(Vital)) {
	var worst metrics.Quantile
	var slowest metrics.Latency
	found := false
	for _, id := range slices.Sorted(maps.Keys(p.RTT)) { // of two that are as slow, the same each time
		l := p.RTT[id]
		if active, ever := p.Active[id]; ever && !active {
			continue
		}
		h := l.Window
		if h.Count == 0 {
			h = l.Lifetime
		}
		if q, ok := h.Quantile(0.99); ok && (!found || q.Value > worst.Value) {
			worst, slowest, found = q, l, true
		}
	}
	if found {
		addP99(t, "peer rtt p99", slowest, add)
	}
}
