package etcd

import (
	"maps"
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// A Roster puts names to the IDs by which members speak of each other.
type Roster struct {
	IDs map[string]uint64 // by name; of those members whose ID could be learned
	// Extra holds the IDs of members that the others believe in and that
	// neither a pod nor the member list names: a node that was deleted without
	// removing its member leaves one. Known from 3.6 on.
	Extra []uint64
	// Complete says that no other members can be: the list comes from etcd
	// itself, or a member told whom it believes in.
	Complete bool
}

// Name returns the name of a member, or "".
func (r Roster) Name(id uint64) string {
	for n, i := range r.IDs {
		if i == id && id != 0 {
			return n
		}
	}
	return ""
}

// WhoIsWho puts names to IDs: by the member list, or by what the members say
// of themselves and of each other.
var WhoIsWho = &collectors.Fact[Roster]{
	ID:      "etcd.roster",
	Doc:     "the IDs of the members, and members that others believe in but that have no name",
	Needs:   []collectors.Any{Members, Status, ServerMetrics, PeerMetrics},
	Targets: collectors.Single(Cluster),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Roster, error) {
		m, gap := Members.One(s)
		if gap != nil {
			return Roster{}, gap
		}
		return roster(s, m), nil
	},
}

func roster(s *collectors.Snapshot, m Membership) Roster {
	r := Roster{IDs: map[string]uint64{}, Complete: m.Listed}
	known, connected := map[uint64]bool{}, map[uint64]bool{}
	var nameless []string
	alone := len(m.Members) == 1 // and has a leader, and never had a peer
	for _, x := range m.Members {
		t := x.Target()
		st, _ := Status.Of(s, t)
		sv, _ := ServerMetrics.Of(s, t)
		id := x.ID
		if id == 0 {
			id = st.MemberID
		}
		if id == 0 {
			id = sv.ID
		}
		if id != 0 {
			r.IDs[x.Name] = id
		} else {
			nameless = append(nameless, x.Name)
		}
		p, gap := PeerMetrics.Of(s, t)
		alone = alone && gap == nil && sv.HasLeader && len(p.Active)+len(p.RTT) == 0
		if gap == nil {
			maps.Copy(known, p.Known)
			for peer := range p.Active {
				connected[peer] = true
			}
		}
	}
	if m.Listed {
		return r
	}
	// A single voter beside one that never came would elect no leader.
	r.Complete = len(known) > 0 || alone
	if len(known) == 0 {
		known = connected // of an older etcd; may hold members that were removed
	}
	for _, id := range r.IDs {
		delete(known, id)
	}
	rest := slices.Sorted(maps.Keys(known))
	if len(nameless) == 1 && len(rest) == 1 {
		r.IDs[nameless[0]] = rest[0]
		rest = nil
	}
	if r.Complete && len(rest) > len(nameless) {
		r.Extra = rest[len(nameless):]
	}
	return r
}
