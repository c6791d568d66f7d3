package etcd

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A State is a member's own account of itself.
type State struct {
	MemberID     uint64
	Version      string
	Storage      string // version of the storage schema; 3.6+
	Leader       uint64 // ID of the member that it takes for the leader; 0 if none
	Learner      bool
	Term         uint64
	RaftIndex    uint64
	AppliedIndex uint64
	Revision     int64
	DBSize       int64    // bytes
	DBSizeInUse  int64    // bytes
	Quota        int64    // bytes; 0 if it does not say. Before 3.6.6 the number is not to be trusted.
	Errors       []string // "etcdserver: no leader", "alarm:NOSPACE …"
	Took         time.Duration
}

// IsLeader reports whether the member is the leader by its own account.
func (s State) IsLeader() bool { return s.Leader != 0 && s.Leader == s.MemberID }

// Status is each member's own account of itself, over gRPC.
var Status = &collectors.Fact[State]{
	ID:      "etcd.status",
	Doc:     "each member's version, role, raft indexes, sizes and errors, by its own account",
	Needs:   []collectors.Any{Members},
	Targets: MemberTargets,
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Call, URL: clientAddr(s, t) + "/maintenance/status"}}
	},
	Read: func(rs []collectors.Answered) (State, error) {
		v, err := readJSON[struct {
			Header           header   `json:"header"`
			Version          string   `json:"version"`
			DBSize           int64    `json:"dbSize"`
			Leader           uint64   `json:"leader"`
			RaftIndex        uint64   `json:"raftIndex"`
			RaftTerm         uint64   `json:"raftTerm"`
			RaftAppliedIndex uint64   `json:"raftAppliedIndex"`
			Errors           []string `json:"errors"`
			DBSizeInUse      int64    `json:"dbSizeInUse"`
			IsLearner        bool     `json:"isLearner"`
			StorageVersion   string   `json:"storageVersion"`
			DBSizeQuota      int64    `json:"dbSizeQuota"`
		}](rs)
		return State{
			MemberID: v.Header.MemberID, Version: v.Version, Storage: v.StorageVersion, Leader: v.Leader, Learner: v.IsLearner,
			Term: v.RaftTerm, RaftIndex: v.RaftIndex, AppliedIndex: v.RaftAppliedIndex, Revision: v.Header.Revision,
			DBSize: v.DBSize, DBSizeInUse: v.DBSizeInUse, Quota: v.DBSizeQuota, Errors: v.Errors, Took: rs[0].Elapsed,
		}, err
	},
}

// clientAddr is the front part of the URL of a member's gRPC API.
func clientAddr(s *collectors.Snapshot, t collectors.Target) string {
	if m := member(s, t); m.Client != "" {
		return "etcd://" + m.Client
	}
	return "etcd://" + t.Name
}
