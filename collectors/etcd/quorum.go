package etcd

import (
	"fmt"

	"github.com/ktriage/ktriage/collectors"
)

// A Quorum is how many members that have a vote can be counted on.
type Quorum struct {
	Voters int
	Answer []string // that answer, in whatever way
	Down   []string // for which there is evidence that they are down, or that never started
	Silent []string // that do not answer us and run, as their peers say
	Unsure []string // that we could not reach, and nothing else tells
	// Leader names a member that has a leader, and Reader one that did a read
	// for which the leader needs a majority: proof that there is a quorum,
	// whoever does not answer us.
	Leader, Reader string
	// Leaderless names the voters that answer and have no leader.
	Leaderless []string
	// Gap is the first of those of Unsure; nil if there are none.
	Gap *collectors.Gap
}

// Need is how many voters must agree on every write.
func (q Quorum) Need() int { return q.Voters/2 + 1 }

// Spare is how many of the voters that are not down the cluster can still lose.
func (q Quorum) Spare() int { return q.Voters - len(q.Down) - q.Need() }

// Impossible reports whether no majority can have a leader: too many voters
// are down or say that they have none.
func (q Quorum) Impossible() bool {
	return q.Leader == "" && q.Voters-len(q.Down)-len(q.Leaderless) < q.Need()
}

// String tells the arithmetic: "2 of 3 voters answer, 2 are needed".
func (q Quorum) String() string {
	verb := "answer"
	if len(q.Answer) == 1 {
		verb = "answers"
	}
	need := "are"
	if q.Need() == 1 {
		need = "is"
	}
	more := ""
	switch n := len(q.Silent); {
	case n == 1:
		more = " and 1 more runs"
	case n > 1:
		more = fmt.Sprintf(" and %d more run", n)
	}
	return fmt.Sprintf("%d of %s %s%s, %d %s needed", len(q.Answer), votersNoun(q.Voters), verb, more, q.Need(), need)
}

func membersNoun(n int) string {
	if n == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", n)
}

func votersNoun(n int) string {
	if n == 1 {
		return "1 voter"
	}
	return fmt.Sprintf("%d voters", n)
}

// Votes counts the voters.
var Votes = &collectors.Fact[Quorum]{
	ID:      "etcd.votes",
	Doc:     "how many of the members that have a vote answer, and how many are down",
	Needs:   []collectors.Any{Members, Reached, Roles, TimedReads, WhoIsWho, PeerMetrics, ServerMetrics},
	Targets: collectors.Single(Cluster),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Quorum, error) {
		m, gap := Members.One(s)
		if gap != nil {
			return Quorum{}, gap
		}
		if who, _ := WhoIsWho.One(s); m.Loose && !who.Complete {
			return Quorum{}, collectors.Gapf(collectors.NotAsked, "the evidence shows %s; whether those are all only the member list tells", membersNoun(len(m.Members))).With("etcdctl member list -w json > members.json")
		}
		var q Quorum
		for _, x := range m.Members {
			role, roleGap := Roles.Of(s, x.Target())
			if roleGap == nil && role.HasLeader {
				q.Leader = x.Name
			}
			if r, gap := TimedReads.Of(s, x.Target()); gap == nil && r.LinearizableGap == nil {
				q.Reader = x.Name
			}
			if x.Learner || roleGap == nil && role.Learner {
				continue
			}
			q.Voters++
			if roleGap == nil && !role.HasLeader {
				q.Leaderless = append(q.Leaderless, x.Name)
			}
			if !x.Started {
				q.Down = append(q.Down, x.Name)
				continue
			}
			c, gap := Reached.Of(s, x.Target())
			switch {
			case gap != nil:
				q.unsure(x.Name, gap)
			case c.By != "":
				q.Answer = append(q.Answer, x.Name)
			case c.Down != "":
				q.Down = append(q.Down, x.Name)
			case c.Runs:
				q.Silent = append(q.Silent, x.Name)
			default:
				q.unsure(x.Name, c.Gap)
			}
		}
		q.count(s)
		return q, nil
	},
}

func (q *Quorum) unsure(name string, gap *collectors.Gap) {
	q.Unsure = append(q.Unsure, name)
	if q.Gap == nil {
		q.Gap = gap
	}
}

// count adds the members that only their peers know of.
func (q *Quorum) count(s *collectors.Snapshot) {
	who, _ := WhoIsWho.One(s)
	for _, id := range who.Extra {
		q.Voters++
		name := fmt.Sprintf("%x", id)
		heard, deaf := peersSay(s, Cluster, id)
		switch {
		case heard > 0:
			q.Silent = append(q.Silent, name)
		case deaf > 0:
			q.Down = append(q.Down, name)
		default:
			q.unsure(name, collectors.Gapf(collectors.NotAsked, "member %s has no pod, and its peers do not tell whether they hear it", name).With(Remedy))
		}
	}
}
