package remediate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// stateFacts lists what a State is read from.
func stateFacts() []collectors.Any {
	return []collectors.Any{etcd.Members, etcd.Status, etcd.RaisedAlarms, cluster.Halted}
}

func hex64(id uint64) string { return strconv.FormatUint(id, 16) }

// ReadState tells the state that a plan depends on. The member list must come
// from etcd itself: pods do not tell of a member that has none.
func ReadState(s *collectors.Snapshot) (State, error) {
	m, gap := etcd.Members.One(s)
	if gap != nil {
		return State{}, gap
	}
	if !m.Listed {
		return State{}, (&collectors.Gap{Reason: m.Why.Reason, Detail: "etcd's member list could not be had: " + m.Why.Detail}).With(cmp.Or(m.Why.Remedy, etcd.Remedy))
	}
	st := State{ClusterID: hex64(m.ID)}
	var leaders []uint64
	for _, x := range m.Members {
		ms := MemberState{Name: x.Name, ID: hex64(x.ID), Client: x.Client}
		status, gap := etcd.Status.Of(s, x.Target())
		if gap != nil || status.MemberID != x.ID {
			if !x.Learner {
				st.Down = append(st.Down, x.Name)
			}
		} else {
			ms.Version = status.Version
			leaders = append(leaders, status.Leader)
		}
		st.Members = append(st.Members, ms)
	}
	slices.Sort(leaders)
	if len(slices.Compact(leaders)) == 1 {
		for _, x := range m.Members {
			if x.ID == leaders[0] {
				st.Leader = x.Name
			}
		}
	}
	a, gap := etcd.RaisedAlarms.One(s)
	if gap != nil {
		return State{}, fmt.Errorf("which alarms are raised is not known: %w", gap)
	}
	for _, x := range a.Raised {
		if !slices.Contains(st.Alarms, x.Type) {
			st.Alarms = append(st.Alarms, x.Type)
		}
	}
	_, gap = cluster.Halted.One(s)
	st.Kubernetes = gap == nil
	slices.SortFunc(st.Members, func(a, b MemberState) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(st.Alarms)
	slices.Sort(st.Down)
	return st, nil
}

// quorum is how many voters must agree. All members are voters: a cluster with a
// learner is not acted on.
func (s State) quorum() int { return len(s.Members)/2 + 1 }
