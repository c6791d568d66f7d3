package remediate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// CompactHistory drops old revisions.
var CompactHistory = Recipe{
	ID:    "etcd-compact",
	Title: "drop etcd's history that is older than --keep",
	Doc: `Drops superseded revisions, up to the revision that was the last one --keep ago.
That revision is not guessed: it is the last one when the plan is made, and the
step waits until it is that old. What is stored now does not change. The space
becomes free pages, which etcd uses again and etcd-defrag gives back.`,
	plan: func(p *planner) error {
		keep := p.Options.Keep
		if keep == 0 {
			keep = DefaultKeep
		}
		if p.Options.Aggressive {
			p.note("--aggressive: every watch and paged list that is open starts anew, all at once")
			return p.compact(0, "all history is to go")
		}
		if h, ok := p.history(); ok {
			p.note("%s", h)
		}
		return p.compact(time.Duration(keep), fmt.Sprintf("history older than %s is to go", keep))
	},
}

// history tells what was dropped already.
func (p *planner) history() (string, bool) {
	h, gap := etcd.HistoryMetrics.Of(p.snap, target(p.State.Leader))
	if gap != nil {
		return "", false
	}
	s := fmt.Sprintf("history goes back from revision %d to %d", h.Revision, h.Compacted)
	if h.SinceCompaction > 0 {
		s += fmt.Sprintf("; the last compaction was %s ago", checks.Span(h.SinceCompaction))
	}
	return s, true
}

// compact adds the step that drops history up to the revision that is the last
// one now, once that is old enough.
func (p *planner) compact(keep time.Duration, why string) error {
	leader, ok := p.State.Member(p.State.Leader)
	rev := p.status(p.State.Leader).Revision
	if !ok || rev <= 0 {
		return refusef("see ktriage doctor", "the last revision is not known: no leader told it")
	}
	args := map[string]string{ArgRevision: strconv.FormatInt(rev, 10)}
	effect := "watches and paged lists that began before this revision get 410 Gone and start anew: all that are open now"
	if keep > 0 {
		args[ArgNotBefore] = p.Created.Add(keep).Format(time.RFC3339Nano)
		effect = fmt.Sprintf("watches and paged lists that began %s before the step or earlier, and have seen nothing since, start anew; API servers keep no more themselves", keep)
	}
	p.add(Step{
		Action: Action{Kind: Compact, Target: etcd.Cluster, Args: args},
		Why:    why,
		Effect: effect,
		Manual: fmt.Sprintf("etcdctl compact %d --physical --endpoints=%s --command-timeout=600s", rev, leader.Client),
		Undo:   "there is none: superseded revisions are gone; what is stored now is untouched",
	})
	return nil
}
