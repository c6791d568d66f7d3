package etcd

import (
	"github.com/ktriage/ktriage/collectors"
)

// A Progress is how far a member is in the raft log. Indexes of two members
// can be compared if they come from the same fact: the requests of one fact
// are made at about the same time.
type Progress struct {
	Committed, Applied           int64
	FirstCommitted, FirstApplied int64 // at the first look; as above where there was only one
	Looks                        int
	By                           collectors.Any
}

// HowFar is how far each member is: by its metrics, or by its status.
var HowFar = &collectors.Fact[Progress]{
	ID:      "etcd.progress",
	Doc:     "the raft indexes that each member committed and applied",
	Needs:   []collectors.Any{Members, ProposalMetrics, Status},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Progress, error) {
		p, gap := ProposalMetrics.Of(s, t)
		st, stGap := Status.Of(s, t)
		switch {
		case gap == nil:
			looks := 1
			if p.TwoLooks {
				looks = 2
			}
			return Progress{p.Committed, p.Applied, p.FirstCommitted, p.FirstApplied, looks, ProposalMetrics}, nil
		case stGap == nil && st.AppliedIndex == 0:
			return Progress{}, collectors.Gapf(collectors.Absent, "etcd %s does not tell in its status how far it applied", st.Version) // before 3.4
		case stGap == nil:
			c, a := int64(st.RaftIndex), int64(st.AppliedIndex)
			return Progress{c, a, c, a, 1, Status}, nil
		}
		return Progress{}, failure(stGap, gap)
	},
}
