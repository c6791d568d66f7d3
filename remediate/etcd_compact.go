package remediate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// CompactHistory drops old revisions.
var CompactHistory = Recipe{
	ID:    "etcd-compact",
	Title: "drop etcd's history that is older than --keep",
	Doc: `Drops superseded revisions, up to one that is known to have been the last one
--keep ago or earlier: a revision that ktriage itself saw then, or the turn of the
API servers' own compaction that ended then. etcd keeps no times, and nothing is
inferred. Where none is known, and for the history since, it takes the revision
that is the last one when the plan is made, and waits until that is old enough.
What is stored now does not change. The space becomes free pages, which etcd uses
again and etcd-defrag gives back.`,
	plan: planCompact,
}

// A Sight is the last revision of a cluster at some time, as ktriage saw it.
type Sight struct {
	At       time.Time `json:"at"` // by the clock of this machine
	Revision int64     `json:"revision"`
}

func planCompact(p *planner) error {
	keep := time.Duration(p.Options.Keep)
	if keep == 0 {
		keep = time.Duration(DefaultKeep)
	}
	if p.Options.Aggressive {
		p.note("--aggressive: every watch and paged list that is open starts anew, all at once")
		return p.compact(0, "all history is to go")
	}
	h, gap := etcd.HistoryMetrics.Of(p.snap, target(p.State.Leader))
	if gap != nil {
		p.note("what history there is is not known: %v", gap)
	} else {
		p.note("%s", historyWords(h))
	}
	turn, turnGap := etcd.CompactorTurn.One(p.snap)
	if gap == nil && turnGap == nil {
		if interval, ok := p.compacts(); ok && turn.Target == h.Compacted && h.Compacted > 0 && h.HasAge && h.SinceCompaction >= 0 && h.SinceCompaction+interval <= keep {
			p.note("API servers drop history themselves, and every %s: the last time %s ago, up to what was the last revision one turn earlier. Nothing older than --keep %s is left",
				checks.Span(interval), checks.Span(h.SinceCompaction), checks.Span(keep))
			return nil
		}
	}
	// What is known of the past can be done at once.
	rev, age, how := p.dated(keep, h, turn)
	if rev > 0 && (gap != nil || rev > h.Compacted) {
		p.compactTo(rev, p.snap.At.Add(-age).Add(keep), keep,
			fmt.Sprintf("history older than %s is to go, and revision %d was the last one %s ago: %s", checks.Span(keep), rev, checks.Span(age), how))
		if age <= datedEnough*keep {
			return nil
		}
	} else {
		p.note("no revision is known here to be %s old: the step waits until the last one now is. A plan that was saved and lay for that long does not wait", checks.Span(keep))
	}
	return p.compact(keep, fmt.Sprintf("history older than %s is to go; how old the revisions before this one are is not known, so it is the last one now, when it is that old", checks.Span(keep)))
}

// datedEnough is up to how many times --keep a dated revision may be old for the
// history since to be let be.
const datedEnough = 2

// clockMargin is by how much a member's clock may be behind this machine's:
// certificates and leases make trouble long before.
const clockMargin = time.Minute

// LookFor is how long a look at the cluster may take. What was seen in it may be
// younger than its beginning by that much.
const LookFor = 20 * time.Second

// dated returns the newest revision that is known to be that old, how old it is,
// and from what that is known.
func (p *planner) dated(keep time.Duration, h etcd.History, turn etcd.Compactor) (rev int64, age time.Duration, how string) {
	now := LastRevision(p.snap, p.State)
	for _, s := range p.Options.Seen {
		// One above the last revision is of a cluster that was restored since.
		if a := p.snap.At.Sub(s.At); a >= keep && s.Revision > rev && s.Revision <= now {
			rev, age, how = s.Revision, a, "ktriage saw it then"
		}
	}
	// The key is written, then the compaction takes place: when that ended, the
	// revision of the key was older. That the two belong together shows in the
	// revision up to which history went.
	if a := h.SinceCompaction - clockMargin; h.HasAge && a >= keep && h.Compacted > 0 && turn.Target == h.Compacted && turn.Written > rev && turn.Written < now {
		rev, age, how = turn.Written, a, fmt.Sprintf("the compaction of the API servers' turn at it, by the key %s, had ended then, by the clock of %s less %s", etcd.CompactorKey, p.State.Leader, checks.Span(clockMargin))
	}
	return rev, age, how
}

// compacts returns how often API servers compact, where all of them tell.
func (p *planner) compacts() (every time.Duration, ok bool) {
	fleet, gap := apiserver.Instances.One(p.snap)
	if gap != nil {
		return 0, false
	}
	for _, i := range fleet.Known {
		if i.Pod.Pod == "" {
			return 0, false
		}
		d, err := time.ParseDuration(i.Pod.Flag("etcd-compaction-interval", "5m"))
		if err != nil {
			return 0, false
		}
		if d > every {
			every = d
		}
	}
	return every, every > 0
}

// LastRevision is the last revision of the leader; 0 if it is not known.
func LastRevision(s *collectors.Snapshot, st State) int64 {
	x, _ := etcd.Status.Of(s, target(st.Leader))
	return x.Revision
}

// historyWords tell what was dropped already.
func historyWords(h etcd.History) string {
	s := fmt.Sprintf("history goes from revision %d back to %d", h.Revision, h.Compacted)
	if h.Compacted <= 0 {
		s = fmt.Sprintf("the last revision is %d, and none was dropped since the leader started", h.Revision)
	}
	if h.HasAge && h.SinceCompaction >= 0 {
		s += fmt.Sprintf("; the last compaction was %s ago", checks.Span(h.SinceCompaction))
	}
	return s
}

// compact adds the step that drops history up to the revision that is the last
// one now, once that is old enough.
func (p *planner) compact(keep time.Duration, why string) error {
	rev := LastRevision(p.snap, p.State)
	if _, ok := p.State.Member(p.State.Leader); !ok || rev <= 0 {
		return refusef("see ktriage doctor", "the last revision is not known: no leader told it")
	}
	at := time.Time{}
	if keep > 0 {
		at = p.Created.Add(keep + LookFor)
	}
	p.compactTo(rev, at, keep, why)
	return nil
}

func (p *planner) compactTo(rev int64, notBefore time.Time, keep time.Duration, why string) {
	leader, _ := p.State.Member(p.State.Leader)
	args := map[string]string{ArgRevision: strconv.FormatInt(rev, 10)}
	effect := "watches and paged lists that began before this revision get 410 Gone and start anew: all that are open now"
	if keep > 0 {
		args[ArgNotBefore] = notBefore.UTC().Format(time.RFC3339Nano)
		effect = fmt.Sprintf("watches and paged lists that began %s before the step or earlier, and have seen nothing since, start anew; API servers keep no more themselves", checks.Span(keep))
	}
	p.add(Step{
		Action: Action{Kind: Compact, Target: etcd.Cluster, Args: args},
		Why:    why,
		Effect: effect,
		Manual: fmt.Sprintf("etcdctl compact %d --physical --endpoints=%s --command-timeout=600s", rev, leader.Client),
		Undo:   "there is none: superseded revisions are gone; what is stored now is untouched",
	})
}
