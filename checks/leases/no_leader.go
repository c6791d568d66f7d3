package leases

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// NoLeaderNeeds are the facts that NoLeader reads.
func NoLeaderNeeds(e *leases.Elected) []collectors.Any {
	return []collectors.Any{leases.Leases, e.Claims, e.Instances}
}

// NoLeader judges whether somebody leads a component: by its lease, and where
// that is not known by what the instances say of themselves.
func NoLeader(p *checks.Pass, e *leases.Elected) {
	el := lookAtLease(p, e)
	if electionOff(p, e) {
		p.Nothing(e.Self(), "runs without leader election")
		return
	}
	votes := poll(p, e)
	if !el.found {
		byClaims(p, e, el, votes)
		return
	}
	age := el.lease.Age(el.held.At)
	status, words := checks.OK, fmt.Sprintf("%s leads and renewed its lease %s ago", el.lease.Host(), ago(age))
	switch stand(el.lease, el.held.At) {
	case undated:
		p.Unknown(e.Self(), collectors.Gapf(collectors.Absent, "the lease %s says neither when it was renewed nor how long it is valid", el.lease.ID()))
		return
	case released:
		words = fmt.Sprintf("the lease was released %s ago and is free for a candidate", ago(age))
	case silent:
		status, words = silence(p, el, votes)
	case lapsed:
		status, words = checks.Warning, "nobody leads for the moment: "+lastOf(el)
		if _, ok := restarted(p, el.lease); ok {
			status, words = checks.Info, words+", which was started anew since and may take it once it has run out"
		}
	case lost:
		status, words = checks.Critical, "nobody leads: "+lastOf(el)
		if len(votes.leaders) > 0 {
			// It may lead, with a clock that runs behind, or hang. It is alive.
			status = checks.Warning
			words = fmt.Sprintf("%s takes itself for the leader, but %s", checks.List(votes.leaders, 3), lastOf(el))
		} else if d, ok := waitedFor(p, el.lease, el.held.At); ok {
			status = checks.Info
			words = fmt.Sprintf("nobody leads for the moment: %s; all candidates were started anew, the first %s ago, and each first waits out the lease", lastOf(el), ago(d))
		}
	}
	v := p.Judge(e.Self(), status, "%s", words).
		Saw(leases.Leases, "renewed", ago(age)+" ago", ago(el.lease.Duration), leaseSource).
		Number("age", age.Seconds())
	if votes.asked > 0 {
		v.Saw(e.Claims, "take themselves for the leader", fmt.Sprint(len(votes.leaders)), "1", "")
	}
}

// silence judges a lease that is not renewed and may not be taken for long yet.
func silence(p *checks.Pass, el election, v votes) (checks.Status, string) {
	last := fmt.Sprintf("%s, and it lasts for %s", lastOf(el), ago(el.lease.Duration))
	if len(v.leaders) > 0 {
		return checks.Warning, fmt.Sprintf("%s takes itself for the leader, but %s", checks.List(v.leaders, 3), last)
	}
	if run, ok := strangers(p, el.lease); ok {
		return checks.Critical, fmt.Sprintf("nobody leads: %s; it is none of those that run (%s), which may not take it until then", last, checks.List(run, 3))
	}
	if v.asked > 0 && v.asked == v.answered && v.electing == v.asked && v.never {
		return checks.Critical, fmt.Sprintf("nobody leads, by what %s say; %s", checks.Count(v.asked, "instance"), last)
	}
	return checks.Warning, "whether anybody leads is doubtful: " + last
}

// byClaims judges where there is no lease to go by.
func byClaims(p *checks.Pass, e *leases.Elected, el election, v votes) {
	why := el.gap
	if why == nil {
		why = collectors.Gapf(collectors.Absent, "there is no lease of the name %s", e.Role)
	}
	switch {
	case len(v.leaders) > 0:
		p.OK(e.Self(), "%s leads, by its own account; its lease: %s", checks.List(v.leaders, 3), why.Reason).
			Saw(e.Claims, "take themselves for the leader", fmt.Sprint(len(v.leaders)), "1", "")
	case v.gap != nil && v.gap.Reason == collectors.OutOfScope:
		p.Unknown(e.Self(), v.gap)
	case v.asked > 0 && v.asked == v.answered && v.electing == 0 && el.gap == nil:
		p.Nothing(e.Self(), "runs without leader election")
	case v.asked > 0 && v.asked == v.answered && v.electing == v.asked && v.never:
		s := checks.Warning // a candidate may be taking over
		if el.gap == nil {
			s = checks.Critical // no candidate was able to make a lease
		}
		p.Judge(e.Self(), s, "none of %s took itself for the leader at both looks; its lease: %s", checks.Count(v.asked, "instance"), why.Reason).
			Saw(e.Claims, "take themselves for the leader", "0", "1", "")
	default:
		p.Unknown(e.Self(), why)
	}
}

func lastOf(el election) string {
	age := ago(el.lease.Age(el.held.At))
	if el.lease.Holder == "" {
		return fmt.Sprintf("the lease was released %s ago and nobody took it", age)
	}
	return fmt.Sprintf("the lease was last renewed %s ago, by %s", age, el.lease.Host())
}

// votes is what the instances say of themselves.
type votes struct {
	asked, answered, electing int
	leaders                   []string // by the last look
	never                     bool     // none led at either of two looks
	gap                       *collectors.Gap
}

func poll(p *checks.Pass, e *leases.Elected) votes {
	as, gap := checks.All(p, e.Claims)
	v := votes{gap: gap, asked: len(as), never: true}
	for _, a := range as {
		if a.Gap != nil {
			continue
		}
		v.answered++
		if a.Value.Elects {
			v.electing++
		}
		if a.Value.Leads {
			v.leaders = append(v.leaders, a.Target.Name)
		}
		v.never = v.never && !a.Value.Leads && !a.Value.Led && a.Value.Looks == 2
	}
	return v
}

// electionOff reports whether all instances of a component are told not to
// elect a leader. A lease is then left from when they did.
func electionOff(p *checks.Pass, e *leases.Elected) bool {
	is, gap := checks.All(p, e.Instances)
	if gap != nil || len(is) == 0 {
		return false
	}
	for _, i := range is {
		if i.Gap != nil || i.Value.Flag("leader-elect", "true") != "false" {
			return false
		}
	}
	return true
}
