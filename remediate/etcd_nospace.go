package remediate

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// NoSpace brings a cluster back that refuses writes for want of space.
var NoSpace = Recipe{
	ID:    noSpaceID,
	Title: "make room in an etcd that raised NOSPACE, and let it write again",
	Doc: `Saves a snapshot, drops all history, defragments every member, takes NOSPACE back
from exactly those members that raised it, and proves that a write goes through.
It works without an API server. What filled the database is not deleted: if too
little is free afterwards, it stops before the alarm is taken back.`,
	plan: planNoSpace,
}

func planNoSpace(p *planner) error {
	a, gap := etcd.RaisedAlarms.One(p.snap)
	if gap != nil {
		return &Refusal{fmt.Errorf("which alarms are raised is not known: %w", gap), gap.Remedy}
	}
	raised, ok := a.Of(etcd.NoSpace)
	if !ok {
		p.note("NOSPACE is not raised: there is nothing to recover from")
		return nil
	}
	if n := len(p.State.Members); n < 3 {
		p.Options.AllowSmall = true
		p.note("with %s etcd answers nothing while one is defragmented; it takes no writes now", checks.Count(n, "voter"))
	}
	if p.Options.NoSnapshot {
		p.note("no snapshot is saved first, as asked")
	} else if err := p.snapshot("the state before anything is done"); err != nil {
		return err
	}
	if err := p.compact(0, "NOSPACE is raised: writes are refused, so that no client needs the history to keep up"); err != nil {
		return err
	}
	if err := p.defragment(p.up(), "compaction frees more"); err != nil {
		return err
	}
	who := append([]string{}, raised...)
	for _, m := range p.State.Members {
		if !slices.Contains(who, m.Name) {
			who = append(who, m.Name)
		}
	}
	for _, name := range who {
		id, why := name, "it raised NOSPACE" // of one that is no member any more, the name is its ID
		if m, ok := p.State.Member(name); ok {
			id = m.ID
		}
		if !slices.Contains(raised, name) {
			why = "it may have raised NOSPACE meanwhile"
		}
		p.add(Step{
			Action: Action{Kind: Disarm, Target: target(name), Args: map[string]string{ArgAlarm: etcd.NoSpace, ArgMemberID: id}},
			Why:    why,
			Effect: "when the last is taken back, writes are accepted again",
			Manual: "etcdctl alarm disarm   # takes back every alarm of every member, CORRUPT too",
			Undo:   "none is needed: etcd raises it again by itself when there is no space",
		})
	}
	p.add(Step{
		Action: Action{Kind: VerifyWrite, Target: etcd.Cluster},
		Why:    "done means that writes go through",
		Effect: "none: the key is ktriage's own",
		Manual: "etcdctl put " + etcd.UpkeepPrefix + "probe x && etcdctl get " + etcd.UpkeepPrefix + "probe && etcdctl del " + etcd.UpkeepPrefix + "probe",
		Undo:   "the key is deleted at once",
	})
	return nil
}
