package remediate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// HandOver is the kind that takes a lease from who holds it and hangs.
const HandOver Kind = "lease.hand-over"

// The arguments of HandOver.
const (
	ArgHolder  = "holder"  // the identity of who holds the lease, and is to lose it
	ArgSeconds = "seconds" // for how long it is held for nobody; 0 frees it at once
)

// Nobody is the identity for which a lease is held until who had it has given up.
const Nobody = "ktriage_nobody"

// RestartLeader gives the lease of a scheduler or controller manager that hangs to
// one that stands by.
var RestartLeader = Recipe{
	ID:    "restart-leader",
	Title: "give the lease of a scheduler or controller manager that hangs to one that stands by",
	Doc: `Takes the lease from an instance that leads and does no work, if another one is
proved to stand by: it runs, finds itself healthy, and takes part in the election.
What shows that one hangs is either that it does not renew its lease and does not
answer, or that it renews and does nothing: a scheduler, that it tries no pod over
the whole look though some are next; a controller manager, that a worker is at one
object for five minutes and more. One that renews would take a lease that is free
back, so that the lease is held for nobody until it has given up.`,
	Kube:   true,
	Window: 10 * time.Second,
	facts: func(Options, time.Time) []collectors.Any {
		return []collectors.Any{cluster.UID, cluster.Halted, leaderships}
	},
	plan: planRestartLeader,
}

func planRestartLeader(p *planner) error {
	for _, e := range elected {
		if !p.wanted("lease/" + string(e.Role)) {
			continue
		}
		switch l, gap := leaderships.Of(p.snap, e.Self()); {
		case gap != nil:
			p.note("%s: whether its leader hangs is not known: %v", e.Role, gap)
		case l.how == works:
			p.note("%s is left alone: %s", l.lease.ID(), l.why)
		case l.lease.Strategy != "":
			return refusef("end its container on its node, and the kubelet starts it anew: crictl stop $(crictl ps -q --name "+string(e.Role)+")",
				"%s hangs (%s), and the API server decides who leads (coordinated leader election, %s): it would give the lease back", l.holder(), l.why, l.lease.Strategy)
		case l.standby == "":
			return refusef("see ktriage doctor; end its container on its node, and the kubelet starts it anew: crictl stop $(crictl ps -q --name "+string(e.Role)+")",
				"%s hangs (%s), and nobody is proved to stand by: %w", l.holder(), l.why, l.nobodyReady())
		default:
			p.handOver(l)
		}
	}
	if len(p.Steps) == 0 {
		p.note("no leader is proved to hang")
	}
	return nil
}

// handOver adds the step that takes the lease away.
func (p *planner) handOver(l leadership) {
	role, lease := l.elected.Role, l.lease
	s := Step{
		Action: Action{Kind: HandOver, Target: lease.Target(), Args: map[string]string{ArgHolder: lease.Holder, ArgSeconds: "0", ArgSaved: p.saved("lease", lease.Name)}},
		Why:    fmt.Sprintf("%s hangs: %s; %s", l.holder(), l.why, l.standby),
		Stall:  Duration(l.retry),
		Effect: fmt.Sprintf("the lease is free, and who stands by takes it at its next try, within %s; until then nobody leads, as in effect nobody does now", checks.Seconds(l.retry.Seconds())),
		Manual: fmt.Sprintf(`kubectl -n %s patch lease %s --type=merge -p '{"spec":{"holderIdentity":"","leaseDurationSeconds":1}}'`, lease.Namespace, lease.Name),
		Undo:   fmt.Sprintf("none is needed, any instance may lead; to change once more, on the node of the one that leads then: crictl stop $(crictl ps -q --name %s)", role),
	}
	if l.how == idle {
		s.Action.Args[ArgSeconds] = strconv.Itoa(int(lease.Duration / time.Second))
		s.Stall = Duration((lease.Duration + 2*l.retry).Round(time.Second))
		s.Effect = fmt.Sprintf("the lease is held for nobody for %s. Who hangs renews, and would take a free one back, but gives up before that; then who stands by takes it. Nobody leads for about %s, as in effect nobody does now",
			checks.Span(lease.Duration), s.Stall)
		s.Manual = fmt.Sprintf(`kubectl -n %s patch lease %s --type=merge -p '{"spec":{"holderIdentity":"nobody"}}'   # or on its node: crictl stop $(crictl ps -q --name %s)`, lease.Namespace, lease.Name, role)
	} else if left := lease.Duration - lease.Age(l.look.At); left > 0 {
		p.note("%s: without this, who stands by takes the lease when it has run out, in about %s", role, checks.Span(left+l.retry))
	}
	p.add(s)
	p.note("%s: who loses the lease cannot renew it, gives up at its renew deadline (%s) and ends; the kubelet starts it anew, to stand by", role, checks.Span(l.deadline))
	p.note("%s: one that is frozen as a whole notices only when it wakes up. From then on it may act on what it knew, for as long as that deadline: leader election has no fence. The API server refuses what changes an object that has changed since, or binds a pod that is bound; it does not refuse what is created a second time", role)
}

// handGuards are the guards and clears of a step that hands a lease over.
func (g *gate) handGuards(a Action) (guards, clears []*checks.Check) {
	return []*checks.Check{g.sameCluster(), g.kubeHalt(), g.window(0), g.hangs(a)}, []*checks.Check{g.sameCluster(), g.taken(a)}
}

// ofLease returns what is known of the component whose lease an action is about.
func ofLease(p *checks.Pass, a Action) (leadership, *collectors.Gap) {
	as, gap := checks.All(p, leaderships)
	if gap != nil {
		return leadership{}, gap
	}
	for _, x := range as {
		if x.Gap == nil && x.Value.lease.Target().Is(a.Target) {
			return x.Value, nil
		}
		if x.Gap != nil {
			gap = x.Gap
		}
	}
	if gap == nil {
		gap = collectors.Gapf(collectors.Absent, "the lease is not there any more")
	}
	return leadership{}, gap
}

// hangs demands the proof once more, on the very lease that was planned for.
func (g *gate) hangs(a Action) *checks.Check {
	return guard("cure-leader-hangs", "the leader hangs, and another stands by", func(p *checks.Pass) {
		switch l, gap := ofLease(p, a); {
		case gap != nil:
			p.Unknown(a.Target, gap)
		case l.lease.Holder != a.Args[ArgHolder]:
			p.Warn(a.Target, "is held by %q, and was by %q when the plan was made", l.lease.Holder, a.Args[ArgHolder])
		case l.how == works:
			p.Warn(a.Target, "%s", l.why)
		case (l.how == idle) != (a.Args[ArgSeconds] != "0"):
			p.Warn(a.Target, "its holder hangs in another way than when the plan was made: %s", l.why)
		case l.lease.Strategy != "":
			p.Warn(a.Target, "is given by the API server (%s)", l.lease.Strategy)
		case l.standby == "":
			p.Warn(a.Target, "nobody is proved to stand by: %v", l.nobodyReady())
		default:
			p.OK(a.Target, "%s; %s", l.why, l.standby)
		}
	}, leaderships)
}

// taken demands that another holds the lease, renews it, and does not hang too.
func (g *gate) taken(a Action) *checks.Check {
	return guard("cure-leader-works", "another leads, renews its lease, and works", func(p *checks.Pass) {
		l, gap := ofLease(p, a)
		if gap != nil {
			p.Unknown(a.Target, gap)
			return
		}
		var before leases.Lease
		if l.look.Before != nil {
			before, _ = l.look.Before.Find(l.lease.Namespace, l.lease.Name)
		}
		switch {
		case l.lease.Holder == a.Args[ArgHolder]:
			p.Warn(a.Target, "is still held by %s", l.lease.Holder)
		case l.lease.Holder == "" || l.lease.Holder == Nobody:
			p.Warn(a.Target, "is held by nobody yet")
		case l.how != works:
			p.Warn(a.Target, "is held by %s, which hangs too: %s", l.lease.Holder, l.why)
		case before.Holder != l.lease.Holder || !l.lease.Renewed.After(before.Renewed):
			p.Warn(a.Target, "was taken by %s, which has not renewed it yet", l.lease.Holder)
		default:
			p.OK(a.Target, "is held by %s, which renews it: %s", l.lease.Holder, l.why).Mark(nowMark + l.lease.Holder)
		}
	}, leaderships)
}
