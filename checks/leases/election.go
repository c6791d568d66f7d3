package leases

import (
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// An election is what the lease tells about a component.
type election struct {
	lease leases.Lease
	held  leases.Held
	found bool
	gap   *collectors.Gap
}

func lookAtLease(p *checks.Pass, e *leases.Elected) election {
	held, gap := checks.One(p, leases.Leases)
	el := election{held: held, gap: gap}
	if gap == nil {
		el.lease, el.found = held.Of(string(e.Role))
	}
	return el
}

func (el election) fresh() bool   { return el.found && el.lease.Fresh(el.held.At) }
func (el election) expired() bool { return el.found && stand(el.lease, el.held.At) == lost }

func (el election) holds(i cluster.Instance) bool {
	return el.fresh() && el.lease.HeldBy(i)
}

// short says what the lease is, without a verdict.
func (el election) short() string {
	switch {
	case el.gap != nil:
		return "not known: " + el.gap.Error()
	case !el.found:
		return "there is none"
	case el.lease.Holder == "":
		return fmt.Sprintf("released %s ago", ago(el.lease.Age(el.held.At)))
	}
	return fmt.Sprintf("%s renewed it %s ago", el.lease.Host(), ago(el.lease.Age(el.held.At)))
}

// words ends a sentence on an outage.
func (el election) words() string {
	if !el.expired() {
		return ""
	}
	return "; " + lastOf(el)
}

// ago writes an age. Below a second it is not known: see leases.Lease.Age.
func ago(d time.Duration) string {
	if d < time.Second {
		return "under 1s"
	}
	return checks.Span(d)
}
