package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Proposals is how far a member is with what the cluster agrees on.
type Proposals struct {
	Committed int64 // index of the last entry that it knows to be agreed on
	Applied   int64 // index of the last entry that is in its database
	Pending   int64 // proposals of its clients that wait for agreement
	// The same at the first look; as above where there was only one.
	FirstCommitted, FirstApplied, FirstPending int64
	TwoLooks                                   bool
	Failed                                     Growth // proposals of its clients that failed
}

// ProposalMetrics is how far each member is, by its metrics.
var ProposalMetrics = windowFact("etcd.proposals", "how many raft proposals each member committed, applied, holds pending and saw fail", readProposals,
	metrics.Select{Name: "etcd_server_proposals_committed_total"},
	metrics.Select{Name: "etcd_server_proposals_applied_total"},
	metrics.Select{Name: "etcd_server_proposals_pending"},
	metrics.Select{Name: "etcd_server_proposals_failed_total"},
)

func readProposals(w metrics.Window) (Proposals, error) {
	var p Proposals
	for _, m := range []struct {
		name        string
		last, first *int64
	}{
		{"etcd_server_proposals_committed_total", &p.Committed, &p.FirstCommitted},
		{"etcd_server_proposals_applied_total", &p.Applied, &p.FirstApplied},
		{"etcd_server_proposals_pending", &p.Pending, &p.FirstPending},
	} {
		v, ok := w.Last.Sum(m.name)
		if !ok {
			return p, collectors.AbsentMetric(m.name)
		}
		*m.last, *m.first = int64(v), int64(v)
		if w.OK() {
			if f, ok := w.First.Sum(m.name); ok {
				*m.first = int64(f)
			}
		}
	}
	p.TwoLooks = w.OK()
	var ok bool
	if p.Failed, ok = growth(w, "etcd_server_proposals_failed_total"); !ok {
		return p, collectors.AbsentMetric("etcd_server_proposals_failed_total")
	}
	return p, nil
}

// Applies is how a member keeps up with bringing agreed entries into its
// database, and with reading from it.
type Applies struct {
	Slow     Growth          // requests that took over 100 ms, reads among them
	Done     Growth          // entries applied
	Duration metrics.Latency // of applying, in seconds; empty before 3.5
	HasTime  bool            // Duration is there
}

// ApplyMetrics is how each member keeps up with applying.
var ApplyMetrics = windowFact("etcd.applies", "how many requests each member applied, how many of them slowly, and how long it took", func(w metrics.Window) (Applies, error) {
	var a Applies
	var ok bool
	if a.Slow, ok = growth(w, "etcd_server_slow_apply_total"); !ok {
		return a, collectors.AbsentMetric("etcd_server_slow_apply_total")
	}
	if a.Done, ok = growth(w, "etcd_server_proposals_applied_total"); !ok {
		return a, collectors.AbsentMetric("etcd_server_proposals_applied_total")
	}
	a.Duration, a.HasTime = w.Latency("etcd_server_apply_duration_seconds")
	return a, nil
},
	metrics.Select{Name: "etcd_server_slow_apply_total"},
	metrics.Select{Name: "etcd_server_proposals_applied_total"},
	metrics.Select{Name: "etcd_server_apply_duration_seconds"},
)
