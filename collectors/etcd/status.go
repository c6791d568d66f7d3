package etcd

import (
	"cmp"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A State is a member's own account of itself.
type State struct {
	MemberID     uint64
	Version      string
	Storage      string // version of the storage schema; 3.6+
	Downgrade    string // the version that a downgrade under way aims at; 3.6+
	Leader       uint64 // ID of the member that it takes for the leader; 0 if none
	Learner      bool
	Term         uint64
	RaftIndex    uint64 // the last entry that is known to be committed
	AppliedIndex uint64
	Revision     int64
	DBSize       int64    // bytes
	DBSizeInUse  int64    // bytes
	Quota        int64    // bytes; 0 if it does not say. Before 3.6.6 the number is not to be trusted.
	Errors       []string // "etcdserver: no leader", "memberID:1 alarm:NOSPACE"; 3.4+
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
	Read: readStatus,
}

func readStatus(rs []collectors.Answered) (State, error) {
	v, err := readJSON[struct {
		Header           header   `json:"header"`
		Version          string   `json:"version"`
		DBSize           number64 `json:"dbSize"`
		Leader           number64 `json:"leader"`
		RaftIndex        number64 `json:"raftIndex"`
		RaftTerm         number64 `json:"raftTerm"`
		RaftAppliedIndex number64 `json:"raftAppliedIndex"`
		Errors           []string `json:"errors"`
		DBSizeInUse      number64 `json:"dbSizeInUse"`
		IsLearner        bool     `json:"isLearner"`
		StorageVersion   string   `json:"storageVersion"`
		DBSizeQuota      number64 `json:"dbSizeQuota"`
		DowngradeInfo    struct {
			Enabled       bool   `json:"enabled"`
			TargetVersion string `json:"targetVersion"`
		} `json:"downgradeInfo"`
	}](rs)
	if err != nil {
		return State{}, err
	}
	if v.Header.MemberID == 0 {
		// Every etcd names itself. What does not is no status: "{}" must not
		// pass for a member without a leader.
		return State{}, collectors.Gapf(collectors.Malformed, "%s: the reply is not the status of a member", rs[0].From)
	}
	st := State{
		MemberID: uint64(v.Header.MemberID), Version: v.Version, Storage: v.StorageVersion, Leader: uint64(v.Leader), Learner: v.IsLearner,
		Term: uint64(v.RaftTerm), RaftIndex: uint64(v.RaftIndex), AppliedIndex: uint64(v.RaftAppliedIndex), Revision: v.Header.Revision.signed(),
		DBSize: v.DBSize.signed(), DBSizeInUse: v.DBSizeInUse.signed(), Quota: v.DBSizeQuota.signed(), Errors: v.Errors, Took: rs[0].Elapsed,
	}
	if v.DowngradeInfo.Enabled {
		st.Downgrade = cmp.Or(v.DowngradeInfo.TargetVersion, "an older version")
	}
	return st, nil
}

// clientAddr is the front part of the URL of a member's gRPC API.
func clientAddr(s *collectors.Snapshot, t collectors.Target) string {
	if m := member(s, t); m.Client != "" {
		return "etcd://" + m.Client
	}
	return "etcd://" + t.Name
}
