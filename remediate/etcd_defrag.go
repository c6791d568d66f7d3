package remediate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// Defrag gives free pages of the database files back to the disk.
var Defrag = Recipe{
	ID:    defragID,
	Title: "give the free pages of etcd's databases back, one member at a time",
	Doc: `Rewrites the database file of each member that the rule selects. A member answers
nothing while that lasts, some five seconds a gigabyte. Followers go first; then
leadership moves to a member that is done, and the old leader goes last. Between
two members it waits until the whole cluster is as it was.`,
	plan: planDefrag,
}

func planDefrag(p *planner) error {
	rule, err := ParseRule(cmp.Or(p.Options.Rule, DefaultRule))
	if err != nil {
		return err
	}
	for _, name := range p.Options.Members {
		if _, ok := p.State.Member(name); !ok {
			return refusef("see etcdctl member list", "--members: there is no member %q", name)
		}
	}
	if p.Options.SnapshotAt.IsZero() {
		p.note("no snapshot is known here; ktriage fix etcd-snapshot makes one")
	} else {
		p.note("the last snapshot known here is %s old", checks.Span(p.snap.At.Sub(p.Options.SnapshotAt)))
	}
	upkeep, gap := etcd.UpkeepKeys.One(p.snap)
	if gap != nil {
		return &Refusal{fmt.Errorf("when members were defragmented last is not known: %w", gap), gap.Remedy}
	}
	var chosen []MemberState
	for _, m := range p.up() {
		if len(p.Options.Members) > 0 && !slices.Contains(p.Options.Members, m.Name) {
			continue
		}
		db, gap := etcd.DB.Of(p.snap, target(m.Name))
		if gap != nil {
			return &Refusal{fmt.Errorf("the size of %s is not known: %w", m.Name, gap), gap.Remedy}
		}
		size := fmt.Sprintf("%s of %s are free pages", checks.Bytes(db.Free()), checks.Bytes(db.Size))
		yes, err := rule.Matches(db)
		if err != nil {
			return refusef("write a --rule that does without, such as "+strconv.Quote("fragmentation >= 0.45"), "%s: the rule cannot be judged: %w", m.Name, err)
		}
		if !yes {
			p.note("%s is left alone by the rule: %s", m.Name, size)
			continue
		}
		id, _ := strconv.ParseUint(m.ID, 16, 64)
		if last, ok := upkeep.Defragmented[id]; ok && p.snap.At.Sub(last) < time.Duration(p.Options.MinInterval) {
			p.note("%s is left alone for --min-interval: it was defragmented %s ago", m.Name, checks.Span(p.snap.At.Sub(last)))
			continue
		}
		chosen = append(chosen, m)
	}
	return p.defragment(chosen, "the rule selects it: "+cmp.Or(p.Options.Rule, DefaultRule))
}

// defragment adds the steps for members in order, the leader being the last.
func (p *planner) defragment(chosen []MemberState, why string) error {
	done := ""
	for _, m := range chosen {
		db, _ := etcd.DB.Of(p.snap, target(m.Name))
		s := Step{
			Action: Action{Kind: Defragment, Target: target(m.Name)},
			Why:    fmt.Sprintf("%s of its %s are free pages; %s", checks.Bytes(db.Free()), checks.Bytes(db.Size), why),
			Stall:  Duration(p.gate.stall(db.Size)),
			Manual: fmt.Sprintf("etcdctl defrag --endpoints=%s --command-timeout=600s", m.Client),
			Undo:   "none is needed: what is stored does not change",
		}
		switch {
		case m.Name != p.State.Leader:
			s.Effect = fmt.Sprintf("%s answers nothing for about %s: an API server that knows only this member stands still, writes through the others go on", m.Name, about(time.Duration(s.Stall)))
		case len(p.State.Members) == 1:
			s.Action.Args = map[string]string{ArgInPlace: "true"}
			s.Effect = fmt.Sprintf("etcd as a whole answers nothing for about %s", about(time.Duration(s.Stall)))
		default:
			to, err := p.successor(m.Name, done)
			if err != nil {
				return err
			}
			p.move(to, "so that "+m.Name+" can be defragmented without holding up all writes")
			s.Effect = fmt.Sprintf("%s, which then follows, answers nothing for about %s", m.Name, about(time.Duration(s.Stall)))
		}
		p.add(s)
		done = cmp.Or(done, m.Name)
	}
	return nil
}

// successor chooses who leads in place of a member: the first that the plan has
// defragmented by then, else the one with the fewest free pages, of those that
// have caught up.
func (p *planner) successor(instead, done string) (string, error) {
	if done != "" {
		return done, nil
	}
	best, free := "", 0.0
	var front uint64
	for _, m := range p.up() {
		front = max(front, p.status(m.Name).RaftIndex)
	}
	for _, m := range p.up() {
		st := p.status(m.Name)
		if m.Name == instead || front-st.RaftIndex > maxLag/10 {
			continue
		}
		if f := ratio(st.DBSize-st.DBSizeInUse, st.DBSize); best == "" || f < free {
			best, free = m.Name, f
		}
	}
	if best == "" {
		return "", refusef("wait until a follower has caught up", "nobody can lead in place of %s", instead)
	}
	return best, nil
}

// move adds the step by which leadership goes from the leader to another.
func (p *planner) move(to, why string) {
	from, _ := p.State.Member(p.State.Leader)
	t, _ := p.State.Member(to)
	p.add(Step{
		Action: Action{Kind: MoveLeader, Target: target(from.Name), Args: map[string]string{ArgTo: to}},
		Why:    why,
		Stall:  Duration(time.Second),
		Effect: "writes wait for the handover, commonly for much less than a second; no election is held",
		Manual: fmt.Sprintf("etcdctl move-leader %s --endpoints=%s", t.ID, from.Client),
		Undo:   fmt.Sprintf("etcdctl move-leader %s --endpoints=%s", from.ID, t.Client),
	})
}
