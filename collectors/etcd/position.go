package etcd

import (
	"github.com/ktriage/ktriage/collectors"
)

// A Position is how much of the log a member applied, and what revision that
// made. Positions of two members can be held against each other.
type Position struct {
	Applied  int64 // entries
	Revision int64
	By       collectors.Any
}

// Positions is where each member is: by its status, or by its metrics, which
// tell the revision from 3.5 on.
var Positions = &collectors.Fact[Position]{
	ID:      "etcd.position",
	Doc:     "how much of the raft log each member applied, and the revision that it is at",
	Needs:   []collectors.Any{Members, Status, HistoryMetrics, ProposalMetrics},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Position, error) {
		st, stGap := Status.Of(s, t)
		if stGap == nil && st.AppliedIndex > 0 && st.Revision > 0 {
			return Position{int64(st.AppliedIndex), st.Revision, Status}, nil
		}
		h, hGap := HistoryMetrics.Of(s, t)
		p, pGap := ProposalMetrics.Of(s, t)
		switch {
		case hGap == nil && pGap == nil:
			return Position{p.Applied, h.Revision, HistoryMetrics}, nil
		case stGap == nil:
			return Position{}, collectors.Gapf(collectors.OutOfScope, "its status does not tell its revision and how far it applied the log")
		case hGap != nil && hGap.Reason == collectors.OutOfScope:
			return Position{}, hGap
		case hGap != nil:
			return Position{}, failure(stGap, hGap)
		}
		return Position{}, failure(stGap, pGap)
	},
}
