package remediate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/leases"
)

// A gate makes the guards of a plan's steps. It knows what the steps that are
// done have changed.
type gate struct {
	plan   *Plan
	leader string             // the name of the member that is to lead now
	rate   float64            // seconds a byte, as the last member showed
	before map[string]float64 // the size of a member before it was defragmented, by name
}

func newGate(p *Plan) *gate {
	return &gate{plan: p, leader: p.State.Leader, rate: assumedRate, before: map[string]float64{}}
}

// assumedRate is how long a member stands still for each byte of its database:
// 5 s per GB, reports of 3.84 GB in 17 to 21 s (gardener/etcd-backup-restore
// #1061). From the first member on it is measured.
const assumedRate = 5.0 / 1e9

// stall estimates how long a member of that size stands still. Below a second
// an estimate would be a guess.
func (g *gate) stall(size int64) time.Duration {
	return max(time.Second, time.Duration(float64(size)*g.rate*float64(time.Second)))
}

// of returns the guards and the clears of a step, by its kind.
func (g *gate) of(i int) (guards, clears []*checks.Check) {
	s := g.plan.Steps[i].Action
	if s.Kind == OpenHook || s.Kind == RemoveAPIService {
		return g.kubeGuards(s)
	}
	switch s.Kind {
	case PruneEvents:
		return g.pruneGuards(i)
	case HandOver:
		return g.handGuards(s)
	}
	recovery := g.plan.Recipe == noSpaceID
	whole := []*checks.Check{g.members(), g.whole(false), g.leads(g.leader), g.alarms(recovery), g.lag(), g.reads(), g.inflight(), g.versions("")}
	sane := []*checks.Check{g.halt(), g.window(0), g.kubernetes()}
	switch s.Kind {
	case Snapshot:
		return join(whole, g.halt(), g.kubernetes()), whole
	case Compact:
		return join(whole, sane...), join(whole, g.compacted(s))
	case Defragment:
		inPlace := s.Args[ArgInPlace] == "true"
		guards = []*checks.Check{
			g.members(), g.whole(true), g.leads(g.leader), g.alarms(recovery), g.lag(), g.reads(), g.inflight(), g.versions(Defragment),
			g.halt(), g.window(g.plan.Steps[i].Stall), g.kubernetes(), g.role(s.Target.Name, inPlace), g.rest(s.Target.Name), g.estimate(s.Target.Name, inPlace), g.disk(s.Target.Name),
		}
		if !recovery {
			guards = append(guards, g.backup())
		}
		return guards, join(whole, g.shrunk(s.Target.Name), g.kubernetes())
	case MoveLeader:
		after := []*checks.Check{g.members(), g.whole(false), g.leads(s.Args[ArgTo]), g.alarms(recovery), g.lag(), g.reads(), g.inflight(), g.versions(""), g.kubernetes()}
		return join(whole, append(sane, g.fit(s.Args[ArgTo]))...), after
	case Disarm:
		return join(whole, g.halt(), g.roomy()), join(whole, g.disarmed(s.Args[ArgMemberID], s.Args[ArgAlarm]))
	case VerifyWrite:
		strict := []*checks.Check{g.members(), g.whole(false), g.leads(g.leader), g.alarms(false), g.lag(), g.reads(), g.inflight(), g.versions("")}
		return join(strict, g.halt()), strict
	}
	return nil, nil
}

func join(a []*checks.Check, more ...*checks.Check) []*checks.Check {
	return slices.Concat(a, more)
}

// done tells the gate that a step had its effect.
func (g *gate) done(a Action, took time.Duration) {
	switch a.Kind {
	case MoveLeader:
		g.leader = a.Args[ArgTo]
	case Defragment:
		if size := g.before[a.Target.Name]; size > calibrates {
			g.rate = max(g.rate/10, took.Seconds()/size) // one lucky disk does not make the others fast
		}
	}
}

// calibrates is the size from which on the time of a defragmentation says
// something of the disk.
const calibrates = 64 << 20

func target(name string) collectors.Target {
	return collectors.Target{Component: collectors.Etcd, Name: name}
}

func guard(id checks.ID, title string, run func(*checks.Pass), needs ...collectors.Any) *checks.Check {
	return &checks.Check{ID: id, Component: collectors.Etcd, Title: title, Needs: needs, Run: run}
}

// members demands that the cluster and its members are those of the plan, by
// etcd's own list, and that no change of members is under way.
func (g *gate) members() *checks.Check {
	return guard("cure-members", "the cluster and its members are those of the plan, and none is being added", func(p *checks.Pass) {
		m, gap := checks.One(p, etcd.Members)
		switch {
		case gap != nil:
			p.Unknown(etcd.Cluster, gap)
			return
		case !m.Listed:
			p.Unknown(etcd.Cluster, m.Why)
			return
		case hex64(m.ID) != g.plan.State.ClusterID:
			p.Warn(etcd.Cluster, "this is cluster %s, the plan is for %s", hex64(m.ID), g.plan.State.ClusterID)
			return
		}
		for _, x := range m.Members {
			want, ok := g.plan.State.Member(x.Name)
			switch {
			case x.Learner:
				p.Warn(x.Target(), "is a learner: a member is being added")
			case !x.Started:
				p.Warn(x.Target(), "was added and has not started")
			case !ok || want.ID != hex64(x.ID):
				p.Warn(x.Target(), "is not a member of the plan")
			default:
				p.OK(x.Target(), "is member %s, as planned", want.ID)
			}
		}
		if len(m.Members) < len(g.plan.State.Members) {
			p.Warn(etcd.Cluster, "has %s, the plan was made for %d", checks.Count(len(m.Members), "member"), len(g.plan.State.Members))
		}
	}, etcd.Members)
}

// whole demands that every voter answers, and that all agree on leader and
// term; if a member is about to be taken away, that a majority remains.
func (g *gate) whole(taking bool) *checks.Check {
	return guard("cure-whole", "every voter answers, all agree on leader and term, and a majority remains when one stands still", func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.Status)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		answer, leader, term, trouble := 0, uint64(0), uint64(0), false
		for _, a := range as {
			st := a.Value
			planned, ok := g.plan.State.Member(a.Target.Name)
			if a.Gap != nil && slices.Contains(g.plan.State.Down, a.Target.Name) && g.plan.Options.AllowDown {
				p.Info(a.Target, "does not answer, as when the plan was made")
				continue
			}
			switch {
			case a.Gap != nil:
				p.Unknown(a.Target, a.Gap)
			case !ok || hex64(st.MemberID) != planned.ID:
				p.Warn(a.Target, "at its address answers member %s, not %s", hex64(st.MemberID), planned.ID)
			case st.Leader == 0:
				p.Warn(a.Target, "has no leader")
			case leader != 0 && st.Leader != leader:
				p.Warn(a.Target, "takes %s for the leader, others %s", hex64(st.Leader), hex64(leader))
			case term != 0 && st.Term != term:
				p.Warn(a.Target, "is in term %d, others in %d: an election is under way", st.Term, term)
			case st.Learner:
				p.Warn(a.Target, "is a learner")
			default:
				leader, term = st.Leader, st.Term
				answer++
				p.OK(a.Target, "answers, led by %s in term %d", hex64(st.Leader), st.Term).
					Number("size", float64(st.DBSize)).Number("inUse", float64(st.DBSizeInUse))
				continue
			}
			trouble = true
		}
		n := len(g.plan.State.Members)
		switch need := g.plan.State.quorum(); {
		case trouble: // was told
			p.OK(etcd.Cluster, "%d of %s are as they must be, %d are needed", answer, checks.Count(n, "voter"), need)
		case len(as) != n:
			p.Warn(etcd.Cluster, "%s, the plan was made for %d", checks.Count(len(as), "member"), n)
		case answer < need:
			p.Warn(etcd.Cluster, "%d of %s answer, %d are needed", answer, checks.Count(n, "voter"), need)
		case taking && answer-1 < need && !(g.plan.Options.AllowSmall && n < 3 && answer == n):
			p.Warn(etcd.Cluster, "%d of %s answer: without one more, the majority of %d is lost", answer, checks.Count(n, "voter"), need)
		default:
			p.OK(etcd.Cluster, "%d of %s answer, %d are needed", answer, checks.Count(n, "voter"), need)
		}
	}, etcd.Status)
}

// leads demands that a certain member leads, by the word of all.
func (g *gate) leads(name string) *checks.Check {
	return guard("cure-leader", "the leader is the one that the plan reckons with", func(p *checks.Pass) {
		want, ok := g.plan.State.Member(name)
		if !ok {
			p.Warn(etcd.Cluster, "no leader is known to the plan")
			return
		}
		as, gap := checks.All(p, etcd.Status)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		agree := 0
		for _, a := range as {
			if a.Gap != nil {
				continue // the whole demands it
			}
			if hex64(a.Value.Leader) != want.ID {
				p.Warn(a.Target, "takes %s for the leader, not %s (%s): make a new plan", hex64(a.Value.Leader), name, want.ID)
				return
			}
			agree++
		}
		if agree < g.plan.State.quorum() {
			p.Unknown(etcd.Cluster, collectors.Gapf(collectors.NotAsked, "only %s told who leads", checks.Count(agree, "member")))
			return
		}
		p.OK(etcd.Cluster, "%s leads, say %s", name, checks.Count(agree, "member"))
	}, etcd.Status)
}

// alarms demands that none is raised, or NOSPACE alone. One that is not known
// here blocks, as CORRUPT does, whatever stands beside it.
func (g *gate) alarms(noSpace bool) *checks.Check {
	return guard("cure-alarms", "no alarm is raised that forbids it: CORRUPT and unknown ones always do", func(p *checks.Pass) {
		a, gap := checks.One(p, etcd.RaisedAlarms)
		switch {
		case gap != nil:
			p.Unknown(etcd.Cluster, gap)
			return
		case a.Hidden:
			p.Unknown(etcd.Cluster, collectors.Gapf(collectors.Absent, "an alarm is raised, and only the first was told").With(etcd.Remedy))
			return
		}
		for _, x := range a.Raised {
			if x.Type != etcd.NoSpace || !noSpace {
				p.Warn(etcd.Cluster, "%s is raised by %s", x.Type, x.Member)
				return
			}
		}
		p.OK(etcd.Cluster, "%s", checks.Count(len(a.Raised), "alarm"))
	}, etcd.RaisedAlarms)
}

// maxLag is how many entries a voter may be behind, in the log or in applying
// it. etcd sends a whole snapshot from 5000 on; a busy cluster writes some
// hundred between two answers.
const maxLag = 1000

func (g *gate) lag() *checks.Check {
	return guard("cure-lag", fmt.Sprintf("no voter is more than %d entries behind", maxLag), func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.Status)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		var front uint64
		for _, a := range as {
			front = max(front, a.Value.RaftIndex)
		}
		for _, a := range as {
			st := a.Value
			switch {
			case a.Gap != nil && slices.Contains(g.plan.State.Down, a.Target.Name) && g.plan.Options.AllowDown:
				p.Info(a.Target, "does not answer, as when the plan was made")
			case a.Gap != nil:
				p.Unknown(a.Target, a.Gap)
			case st.AppliedIndex == 0:
				p.Unknown(a.Target, collectors.Gapf(collectors.Absent, "etcd %s does not tell how far it applied the log", st.Version))
			case front-st.RaftIndex > maxLag:
				p.Warn(a.Target, "is %d entries behind", front-st.RaftIndex)
			case st.RaftIndex > st.AppliedIndex+maxLag:
				p.Warn(a.Target, "has %d entries to apply", st.RaftIndex-st.AppliedIndex)
			default:
				p.OK(a.Target, "is %d entries behind", front-st.RaftIndex)
			}
		}
	}, etcd.Status)
}

// slowRead is when a member is too busy to be touched: a read of one key takes
// milliseconds, and clients notice from 100 ms on. It leaves room for a machine
// that has other work.
const slowRead = 2 * time.Second

// reads demands that each voter reads, with the leader's word and from its own
// copy: the second hangs while a member is being defragmented.
func (g *gate) reads() *checks.Check {
	return guard("cure-reads", fmt.Sprintf("every voter reads a key within %s", slowRead), func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.TimedReads)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		for _, a := range as {
			r := a.Value
			if slices.Contains(g.plan.State.Down, a.Target.Name) && g.plan.Options.AllowDown && (a.Gap != nil || r.SerializableGap != nil) {
				p.Info(a.Target, "does not answer, as when the plan was made")
				continue
			}
			for _, gap := range []*collectors.Gap{a.Gap, r.LinearizableGap, r.SerializableGap} {
				if gap != nil {
					p.Unknown(a.Target, gap)
					break
				}
			}
			if a.Gap != nil || r.LinearizableGap != nil || r.SerializableGap != nil {
				continue
			}
			if took := max(r.Linearizable, r.Serializable); took > slowRead {
				p.Warn(a.Target, "took %s to read a key", checks.Seconds(took.Seconds()))
			} else {
				p.OK(a.Target, "read a key in %s", checks.Seconds(took.Seconds()))
			}
		}
	}, etcd.TimedReads)
}

// inflight demands that no member is being defragmented, by us or another.
func (g *gate) inflight() *checks.Check {
	return guard("cure-defrag-inflight", "no member is being defragmented", func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.DefragMetrics)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		for _, a := range as {
			r, noRead := checks.Of(p, etcd.TimedReads, a.Target)
			switch {
			case a.Gap == nil && a.Value.Now:
				p.Warn(a.Target, "is being defragmented by someone")
			case a.Gap == nil && a.Value.Applying:
				p.Warn(a.Target, "applies a snapshot that it received: it was far behind")
			case a.Gap == nil:
				p.OK(a.Target, "is not being defragmented")
			case slices.Contains(g.plan.State.Down, a.Target.Name) && g.plan.Options.AllowDown:
				p.Info(a.Target, "does not answer, as when the plan was made")
			case a.Gap.Reason == collectors.OutOfScope && noRead == nil && r.SerializableGap == nil:
				p.Info(a.Target, "reads from its database, so that it is not being defragmented; its version has no metric for it")
			case a.Gap.Reason == collectors.OutOfScope:
				p.Unknown(a.Target, collectors.Gapf(collectors.Timeout, "does not read from its database"))
			default:
				p.Unknown(a.Target, a.Gap)
			}
		}
	}, etcd.DefragMetrics, etcd.TimedReads)
}

// role demands that the member does not lead, or that it may.
func (g *gate) role(name string, inPlace bool) *checks.Check {
	return guard("cure-role", "the member to be defragmented does not lead, unless that was asked for", func(p *checks.Pass) {
		st, gap := checks.Of(p, etcd.Status, target(name))
		switch {
		case gap != nil:
			p.Unknown(target(name), gap)
		case st.IsLeader() && !inPlace:
			p.Warn(target(name), "leads: all writes would wait")
		case st.IsLeader():
			p.OK(target(name), "leads, and is to be defragmented all the same")
		default:
			p.OK(target(name), "follows")
		}
	}, etcd.Status)
}

// rest demands that the member was left alone for long enough.
func (g *gate) rest(name string) *checks.Check {
	return guard("cure-min-interval", "the member was not defragmented shortly before", func(p *checks.Pass) {
		u, gap := checks.One(p, etcd.UpkeepKeys)
		if gap != nil {
			p.Unknown(target(name), gap)
			return
		}
		m, _ := g.plan.State.Member(name)
		id, _ := strconv.ParseUint(m.ID, 16, 64)
		last, ok := u.Defragmented[id]
		switch ago, least := p.Now().Sub(last), time.Duration(g.plan.Options.MinInterval); {
		case !ok:
			p.OK(target(name), "was not defragmented by ktriage before")
		case ago < least:
			p.Warn(target(name), "was defragmented %s ago, --min-interval is %s", checks.Span(ago), checks.Span(least))
		default:
			p.OK(target(name), "was defragmented %s ago", checks.Span(ago))
		}
	}, etcd.UpkeepKeys)
}

// estimate demands that clients will not wait for longer than was allowed.
func (g *gate) estimate(name string, inPlace bool) *checks.Check {
	return guard("cure-stall", "clients will not wait for longer than allowed", func(p *checks.Pass) {
		st, gap := checks.Of(p, etcd.Status, target(name))
		if gap != nil {
			p.Unknown(target(name), gap)
			return
		}
		limit := g.plan.Options.MaxStall
		if limit == 0 && inPlace && g.plan.Recipe != noSpaceID {
			limit = DefaultMaxStall
		}
		d := g.stall(st.DBSize)
		var v *checks.Verdict
		switch {
		case limit == 0:
			v = p.OK(target(name), "will answer nothing for about %s", about(d))
		case d > time.Duration(limit):
			v = p.Warn(target(name), "would answer nothing for about %s, --max-stall is %s", about(d), limit)
		default:
			v = p.OK(target(name), "will answer nothing for about %s, of %s allowed", about(d), limit)
		}
		v.Number("size", float64(st.DBSize)).Number("inUse", float64(st.DBSizeInUse))
	}, etcd.Status)
}

func about(d time.Duration) string { return checks.Span(d.Round(time.Second)) }

// disk demands room for the copy that a defragmentation makes, where the disk
// can be seen.
func (g *gate) disk(name string) *checks.Check {
	return guard("cure-disk", "the member's disk has room for a copy of its database", func(p *checks.Pass) {
		d, gap := checks.Of(p, etcd.DataDisk, target(name))
		st, stGap := checks.Of(p, etcd.Status, target(name))
		switch {
		case stGap != nil:
			p.Unknown(target(name), stGap)
		case gap != nil && gap.Reason == collectors.OutOfScope:
			p.Info(target(name), "how much room its disk has cannot be seen from here: %s", gap.Detail)
		case gap != nil:
			p.Unknown(target(name), gap)
		case float64(d.Free) < diskMargin*float64(st.DBSizeInUse):
			p.Warn(target(name), "has %s free on its disk, the copy needs %s", checks.Bytes(d.Free), checks.Bytes(int64(diskMargin*float64(st.DBSizeInUse))))
		default:
			p.OK(target(name), "has %s free on its disk", checks.Bytes(d.Free))
		}
	}, etcd.DataDisk, etcd.Status)
}

// diskMargin is how much room a copy gets, of what is in use.
const diskMargin = 1.2

// backup demands a recent snapshot, if the operator does.
func (g *gate) backup() *checks.Check {
	return guard("cure-snapshot", "there is a recent snapshot, where one is required", func(p *checks.Pass) {
		o := g.plan.Options
		age := p.Now().Sub(o.SnapshotAt)
		switch {
		case o.RequireSnapshot == 0 && o.SnapshotAt.IsZero():
			p.OK(etcd.Cluster, "no snapshot is known here, and none is required")
		case o.RequireSnapshot == 0:
			p.OK(etcd.Cluster, "the last snapshot known here is %s old", checks.Span(age))
		case o.SnapshotAt.IsZero():
			p.Warn(etcd.Cluster, "no snapshot is known here, --require-snapshot is %s", o.RequireSnapshot)
		case age > time.Duration(o.RequireSnapshot):
			p.Warn(etcd.Cluster, "the last snapshot known here is %s old, --require-snapshot is %s", checks.Span(age), o.RequireSnapshot)
		default:
			p.OK(etcd.Cluster, "the last snapshot known here is %s old", checks.Span(age))
		}
	})
}

// growth is the step by which a database file grows with the first write after
// it was rewritten: bbolt's AllocSize.
const growth = 16 << 20

// shrunk demands that a defragmentation gave space back, and that it still has:
// a member that fell far behind meanwhile gets the leader's whole file, free
// pages and all.
func (g *gate) shrunk(name string) *checks.Check {
	return guard(shrunkID, "the member's database has given its free pages back", func(p *checks.Pass) {
		st, gap := checks.Of(p, etcd.Status, target(name))
		if gap != nil {
			p.Unknown(target(name), gap)
			return
		}
		before, free := g.before[name], float64(st.DBSize-st.DBSizeInUse)
		switch {
		case before > 0 && float64(st.DBSize) > before+growth:
			p.Warn(target(name), "is %s, and was %s before", checks.Bytes(st.DBSize), checks.Bytes(int64(before)))
		case float64(st.DBSize) > before*stillLarge && free > growth+float64(st.DBSize)/10:
			p.Warn(target(name), "is %s, of which %s are free pages: it has not kept what it gave back", checks.Bytes(st.DBSize), checks.Bytes(int64(free)))
		default:
			p.OK(target(name), "is %s, of which %s are in use", checks.Bytes(st.DBSize), checks.Bytes(st.DBSizeInUse)).
				Number("size", float64(st.DBSize)).Number("inUse", float64(st.DBSizeInUse))
		}
	}, etcd.Status)
}

const (
	shrunkID = "cure-shrunk"
	// stillLarge is above what share of its former size a database that is
	// mostly free pages has not been rewritten: writes and compactions right
	// after leave free pages, too.
	stillLarge = 0.9
)

// compacted demands that each member that tells has compacted.
func (g *gate) compacted(a Action) *checks.Check {
	return guard("cure-compacted", "every member has dropped the history up to the revision", func(p *checks.Pass) {
		want, err := strconv.ParseInt(a.Args[ArgRevision], 10, 64)
		if err != nil {
			p.Warn(etcd.Cluster, "%q is no revision", a.Args[ArgRevision])
			return
		}
		as, gap := checks.All(p, etcd.HistoryMetrics)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		for _, x := range as {
			switch {
			case x.Gap != nil && (x.Gap.Reason == collectors.OutOfScope || slices.Contains(g.plan.State.Down, x.Target.Name) && g.plan.Options.AllowDown):
				p.Info(x.Target, "does not tell: %s", x.Gap.Detail)
			case x.Gap != nil:
				p.Unknown(x.Target, x.Gap)
			case x.Value.Compacted < want:
				p.Warn(x.Target, "has history from revision %d on, not from %d", x.Value.Compacted, want)
			default:
				p.OK(x.Target, "has history from revision %d on", x.Value.Compacted)
			}
		}
	}, etcd.HistoryMetrics)
}

// fit demands that the member that is to lead can.
func (g *gate) fit(name string) *checks.Check {
	return guard("cure-successor", "the member that is to lead has caught up", func(p *checks.Pass) {
		as, gap := checks.All(p, etcd.Status)
		if gap != nil {
			p.Unknown(target(name), gap)
			return
		}
		var front uint64
		for _, a := range as {
			front = max(front, a.Value.RaftIndex)
		}
		st, gap := checks.Of(p, etcd.Status, target(name))
		switch {
		case gap != nil:
			p.Unknown(target(name), gap)
		case st.Learner:
			p.Warn(target(name), "is a learner")
		case front-st.RaftIndex > maxLag/10:
			p.Warn(target(name), "is %d entries behind: its followers would wait for it", front-st.RaftIndex)
		default:
			p.OK(target(name), "is a voter, %d entries behind", front-st.RaftIndex)
		}
	}, etcd.Status)
}

// roomShare is below what share of its quota a database must be for NOSPACE to
// be taken back: above, it would come back at once. Source: etcd-defrag's
// --disalarm-threshold.
const roomShare = 0.9

// roomy demands that every member has room again.
func (g *gate) roomy() *checks.Check {
	return guard("cure-room", fmt.Sprintf("every database is below %s of its quota", checks.Percent(roomShare)), func(p *checks.Pass) {
		for m, db := range checks.Each(p, etcd.DB) {
			switch {
			case db.Quota == 0:
				p.Unknown(m, collectors.Gapf(collectors.Absent, "its quota is not known").With("the quota comes from its metrics, or from its status from etcd 3.6.6 on"))
			case db.Quota > 0 && float64(db.Size) >= roomShare*float64(db.Quota):
				p.Warn(m, "still fills %s of its quota of %s: delete what is not needed, or raise --quota-backend-bytes", checks.Percent(ratio(db.Size, db.Quota)), checks.Bytes(db.Quota))
			default:
				p.OK(m, "fills %s of its quota", checks.Percent(ratio(db.Size, db.Quota)))
			}
		}
	}, etcd.DB)
}

// disarmed demands that an alarm of a member is gone.
func (g *gate) disarmed(member, alarm string) *checks.Check {
	return guard("cure-disarmed", "the alarm is gone", func(p *checks.Pass) {
		a, gap := checks.One(p, etcd.RaisedAlarms)
		if gap != nil {
			p.Unknown(etcd.Cluster, gap)
			return
		}
		for _, x := range a.Raised {
			name := x.Member
			if m, ok := g.plan.State.Member(name); ok {
				name = m.ID
			}
			if x.Type == alarm && name == member {
				p.Warn(etcd.Cluster, "%s of %s is raised again", alarm, x.Member)
				return
			}
		}
		p.OK(etcd.Cluster, "%s of %s is not raised", alarm, member)
	}, etcd.RaisedAlarms)
}

// halt demands that nobody forbids cures.
func (g *gate) halt() *checks.Check {
	return guard("cure-halt", "no operator forbids cures", func(p *checks.Pass) {
		u, gap := checks.One(p, etcd.UpkeepKeys)
		h, kubeGap := checks.One(p, cluster.Halted)
		switch {
		case u.Halted:
			p.Warn(etcd.Cluster, "the key %s forbids cures", etcd.HaltKey)
		case h.On:
			p.Warn(etcd.Cluster, "the ConfigMap kube-system/%s forbids cures", cluster.HaltName)
		case gap != nil:
			p.Unknown(etcd.Cluster, gap)
		case kubeGap != nil && g.needsKubernetes():
			p.Unknown(etcd.Cluster, kubeGap)
		default:
			p.OK(etcd.Cluster, "neither the key %s nor the ConfigMap kube-system/%s is there", etcd.HaltKey, cluster.HaltName)
		}
	}, etcd.UpkeepKeys, cluster.Halted)
}

// needsKubernetes reports whether the API server must answer: it did when the
// plan was made, or what can wait is not to be done blindly.
func (g *gate) needsKubernetes() bool {
	return g.plan.State.Kubernetes || g.plan.Recipe == defragID && !g.plan.Options.WithoutKubernetes
}

// window demands that there is time left to do it in.
func (g *gate) window(stall Duration) *checks.Check {
	return guard("cure-window", "it is the time for it", func(p *checks.Pass) {
		if g.plan.Options.Window == "" {
			p.OK(etcd.Cluster, "it may be done at any time")
			return
		}
		w, err := ParseWindow(g.plan.Options.Window)
		if err != nil {
			p.Warn(etcd.Cluster, "%v", err)
			return
		}
		switch left := w.Left(p.Now()); {
		case left == 0:
			p.Warn(etcd.Cluster, "it is %s, the window is %s", p.Now().UTC().Format("Mon 15:04"), w)
		case left < time.Duration(stall):
			p.Warn(etcd.Cluster, "the window %s ends in %s, and it takes about %s", w, checks.Span(left), stall)
		default:
			p.OK(etcd.Cluster, "the window %s is open for %s more", w, checks.Span(left))
		}
	})
}

// kubernetes demands that what depends on etcd is well: the API server answers
// out of it, and no leader of the control plane is about to lose its lease.
func (g *gate) kubernetes() *checks.Check {
	return guard("cure-kubernetes", "the API server answers, and the control plane's leases are renewed", func(p *checks.Pass) {
		h, gap := checks.One(p, cluster.Halted)
		held, leaseGap := checks.One(p, leases.Leases)
		switch {
		case gap != nil && !g.needsKubernetes():
			p.Info(etcd.Cluster, "the API server did not answer when the plan was made, and is not waited for")
			return
		case gap != nil:
			p.Unknown(etcd.Cluster, gap)
			return
		case !g.plan.State.Kubernetes || g.plan.Recipe == noSpaceID:
			p.OK(etcd.Cluster, "the API server answers") // it cannot renew a lease while nothing can be written
			return
		case h.Took > slowRead:
			p.Warn(etcd.Cluster, "the API server took %s to read an object", checks.Seconds(h.Took.Seconds()))
			return
		case leaseGap != nil && leaseGap.Reason != collectors.Forbidden && leaseGap.Reason != collectors.Absent:
			p.Unknown(etcd.Cluster, leaseGap)
			return
		}
		for _, l := range held.Leases {
			// Some are made to be renewed less often: OpenShift's every 26 s.
			due := max(time.Duration(DefaultMaxStall), time.Duration(lateShare*float64(l.Duration)))
			if age := l.Age(held.At); l.Core() && l.Holder != "" && !l.Renewed.IsZero() && age > due {
				p.Warn(l.Target(), "was not renewed for %s, of %s that it is valid", checks.Span(age), checks.Span(l.Duration))
				return
			}
		}
		p.OK(etcd.Cluster, "the API server answers, and no lease of the control plane is late")
	}, cluster.Halted, leases.Leases)
}
