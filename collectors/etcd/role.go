package etcd

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Role is what part a member plays.
type Role struct {
	HasLeader bool
	// HadLeader is the same at an earlier look; as HasLeader if there was none.
	HadLeader bool
	Looks     int // how often it was looked: 1 or more
	IsLeader  bool
	Learner   bool
	LeaderID  uint64 // the member that it takes for the leader; 0 if it does not say
	By        collectors.Any
}

// Roles tells each member's part: by its metrics, its status or its health.
var Roles = &collectors.Fact[Role]{
	ID:      "etcd.role",
	Doc:     "whether each member has a leader, is it, or has no vote",
	Needs:   []collectors.Any{Status, ServerMetrics, HealthEndpoint},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Role, error) {
		sv, svGap := ServerMetrics.Of(s, t)
		st, stGap := Status.Of(s, t)
		h, hGap := HealthEndpoint.Of(s, t)
		switch {
		case svGap == nil && sv.Lost == nil:
			r := Role{HasLeader: sv.HasLeader, HadLeader: sv.HadLeader, Looks: 2, IsLeader: sv.IsLeader, Learner: sv.Learner, By: ServerMetrics}
			if stGap == nil {
				r.LeaderID = st.Leader
				r.HadLeader = r.HadLeader && st.Leader != 0
			}
			return r, nil
		case stGap == nil:
			has := st.Leader != 0
			return Role{HasLeader: has, HadLeader: has, Looks: 1, IsLeader: st.IsLeader(), Learner: st.Learner, LeaderID: st.Leader, By: Status}, nil
		case hGap == nil && (h.OK || strings.Contains(h.Reason, "NO LEADER")):
			return Role{HasLeader: h.OK, HadLeader: h.OK, Looks: 1, By: HealthEndpoint}, nil
		}
		if svGap == nil {
			svGap = sv.Lost
		}
		return Role{}, failure(stGap, svGap)
	},
}
