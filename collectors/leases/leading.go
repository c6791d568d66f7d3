package leases

import (
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Claim is what an instance says of itself.
type Claim struct {
	Elects bool // it takes part in an election
	Leads  bool // it takes itself for the leader, at the last look
	Led    bool // so it did at the look before
	Looks  int  // how many looks there were, 1 or 2
	Uptime time.Duration
}

func (e *Elected) claims() *collectors.Fact[Claim] {
	const family = "leader_election_master_status"
	return WindowFact(e, "claims", "whether each "+string(e.Role)+" takes itself for the leader, by its metrics",
		func(w metrics.Window) (Claim, error) {
			mine := metrics.Eq("name", string(e.Role))
			c := Claim{Looks: 1, Uptime: w.Uptime()}
			// A process that takes part in no election does not have the family.
			v, ok := w.Last.Sum(family, mine)
			c.Elects, c.Leads = ok, ok && v >= 1
			if w.First != nil && w.OK() {
				v, ok := w.First.Sum(family, mine)
				c.Looks, c.Led = 2, ok && v >= 1
			}
			return c, nil
		},
		metrics.Select{Name: family, By: []string{"name"}})
}

// A Leading says whether an instance leads. Only the leader works: what the
// queues of another hold is nobody's concern.
type Leading struct {
	Leads bool
	By    string        // how that is known
	Since time.Duration // how long it has led, or run where there is no election; 0 if that is not known
}

// leads joins what each instance says with who holds the lease. The instance
// is believed first: its metrics come from the same scrape as its queues.
func (e *Elected) leads() *collectors.Fact[Leading] {
	return &collectors.Fact[Leading]{
		ID:      string(e.Component) + ".leads",
		Doc:     "whether each " + string(e.Role) + " leads, by its own account or by the lease",
		Needs:   []collectors.Any{cluster.WhatKind, cluster.Instances, e.Claims, Leases},
		Targets: e.MetricsTargets,
		Derive: func(s *collectors.Snapshot, t collectors.Target) (Leading, error) {
			claim, claimGap := e.Claims.Of(s, t)
			held, heldGap := Leases.One(s)
			inst, instGap := e.instance(s, t)
			l, found := held.Of(string(e.Role))
			holds := found && l.Fresh(held.At) && instGap == nil && l.HeldBy(inst)
			since := func() time.Duration {
				if holds && !l.Acquired.IsZero() {
					return max(0, held.At.Sub(l.Acquired))
				}
				return claim.Uptime
			}
			switch {
			case instGap == nil && claimGap != nil && Stopped(inst):
				return Leading{By: "its pod, in which no container runs"}, nil
			case claimGap == nil && claim.Elects:
				return Leading{Leads: claim.Leads, By: "leader_election_master_status", Since: since()}, nil
			case instGap == nil && inst.Flag("leader-elect", "true") == "false":
				return Leading{Leads: true, By: "--leader-elect=false", Since: claim.Uptime}, nil
			case holds:
				return Leading{Leads: true, By: "the lease " + l.ID(), Since: since()}, nil
			case found && l.Fresh(held.At) && instGap == nil:
				return Leading{By: "the lease " + l.ID() + ", which " + l.Host() + " holds"}, nil
			case found && l.Expired(held.At) && instGap == nil:
				// Whatever it does: it has lost the right to.
				return Leading{By: "the lease " + l.ID() + ", which ran out"}, nil
			case claimGap == nil && heldGap == nil && !found:
				// It serves its metrics, and knows of no election; nor is there a lease.
				return Leading{Leads: true, By: "there is no election", Since: claim.Uptime}, nil
			case claimGap != nil:
				return Leading{}, claimGap
			case heldGap != nil:
				return Leading{}, heldGap
			}
			return Leading{}, collectors.Gapf(collectors.Absent, "neither its metrics nor a fresh lease tell whether %s leads", t)
		},
	}
}

// Stopped reports whether the kubelet says that no container of the instance
// runs, and that it waits to start one.
func Stopped(i cluster.Instance) bool { return i.Waiting != "" && i.Started.IsZero() }

// HeldBy reports whether the holder runs where the instance does.
func (l Lease) HeldBy(i cluster.Instance) bool {
	h := l.Host()
	return sameHost(h, i.Node) || h == i.Pod
}

// sameHost compares a host's name with a node's. Either may be the short form
// of the other: a node is often named by its DNS name.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a != "" && b != "" && (a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+"."))
}
