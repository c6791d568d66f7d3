package leases

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// DownNeeds are the facts that Down reads: those of the component, and of a
// neighbour by which it is known whether the way to a node works.
func DownNeeds(e, neighbour *leases.Elected) []collectors.Any {
	return []collectors.Any{e.Instances, e.Health, leases.Leases, neighbour.Health}
}

// Down judges whether a component has healthy instances, by what each says of
// itself, by the kubelet's account of its pod, and by the lease: who renews it
// is alive, whatever else could not be learned.
func Down(p *checks.Pass, e, neighbour *leases.Elected) {
	election := lookAtLease(p, e)
	instances, gap := checks.All(p, e.Instances)
	if gap != nil {
		downUnseen(p, e, election, gap)
		return
	}
	if electionOff(p, e) {
		election.found = false
	}
	ways := reached(p, e, neighbour)
	var states []state
	var unseen []collectors.Answer[struct{}]
	for _, a := range instances {
		if a.Gap != nil {
			p.Unknown(a.Target, a.Gap)
			continue
		}
		h, gap := checks.Of(p, e.Health, a.Target)
		if gap != nil && a.Value.MadeUp { // there is no pod to go by
			unseen = append(unseen, collectors.Answer[struct{}]{Target: a.Target, Gap: gap})
			continue
		}
		s := judge(a.Value, h, gap, election.holds(a.Value), ways[a.Target.Node])
		s.target = a.Target
		states = append(states, s)
	}
	if len(states) == 0 && len(unseen) > 0 {
		downUnseen(p, e, election, unseen[0].Gap)
		return
	}
	for _, u := range unseen {
		p.Unknown(u.Target, u.Gap)
	}
	up := count(states, alive)
	if len(states) > 0 && up == 0 && !election.fresh() && (count(states, doubtful) == 0 || election.expired()) {
		p.Critical(e.Self(), "%s%s", none(states), election.words()).
			Saw(e.Instances, "healthy", "0", fmt.Sprintf("of %d", len(states)), downSource).
			Saw(leases.Leases, "lease", election.short(), "", "").
			Number("instances", float64(len(states))).Mark(marks(states)...)
		return
	}
	for _, s := range states {
		st := checks.OK
		if s.is == dead {
			st = checks.Warning
		}
		v := p.Judge(s.target, st, "%s", s.words(len(states)-count(states, dead), len(states))).Saw(e.Instances, "ready", fmt.Sprint(s.ready), "", "")
		if s.health != "" {
			v.Saw(e.Health, "/healthz", s.health, "200", "")
		}
		v.Number("healthy", float64(up)).Number("instances", float64(len(states)))
		if s.is == dead {
			v.Mark(s.marks...)
		}
	}
}

const downSource = "kubernetes-mixin KubeSchedulerDown, KubeControllerManagerDown"

// downUnseen judges a component whose pods are not known.
func downUnseen(p *checks.Pass, e *leases.Elected, el election, gap *collectors.Gap) {
	switch {
	case gap.Reason == collectors.OutOfScope:
		p.Unknown(e.Self(), gap)
	case el.fresh():
		p.OK(e.Self(), "an instance works: %s; its pods are not known (%s)", el.short(), gap.Reason).Saw(leases.Leases, "lease", el.short(), "", "")
	case el.expired():
		p.Critical(e.Self(), "nobody leads and no instance is known to work (pods: %s)%s", gap.Reason, el.words()).Saw(leases.Leases, "lease", el.short(), "", "")
	default:
		p.Unknown(e.Self(), gap)
	}
}
