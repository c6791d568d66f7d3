package leases

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

// restarted finds the holder of a lease if it was started anew since it renewed
// it last, as in an upgrade. It has another identity now, and waits like all
// others until its own old lease has run out.
func restarted(p *checks.Pass, l leases.Lease) (cluster.Instance, bool) {
	for _, e := range []*leases.Elected{scheduler.Elected, controllers.Elected} {
		if !l.Core() || l.Holder == "" || l.Name != string(e.Role) {
			continue
		}
		answers, _ := checks.All(p, e.Instances)
		for _, a := range answers {
			// The time of a start is given in whole seconds.
			if a.Gap == nil && l.HeldBy(a.Value) && !leases.Stopped(a.Value) && !a.Value.Started.IsZero() && !a.Value.Started.Before(l.Renewed.Truncate(time.Second)) {
				return a.Value, true
			}
		}
	}
	return cluster.Instance{}, false
}

// excused is for how many of its durations a lease may stand free because its
// candidates were started anew: one that ends again and again is always new.
const excused = 4

// waitedFor tells for how long the first of a lease's candidates runs, if all were
// started anew so recently that none has seen the lease stand still for as long as
// it lasts, which each must before it takes it (client-go, tools/leaderelection,
// tryAcquireOrRenew).
func waitedFor(p *checks.Pass, l leases.Lease, at time.Time) (time.Duration, bool) {
	if !l.Core() || l.Holder == "" || l.Age(at) > excused*l.Duration {
		return 0, false
	}
	longest, known := time.Duration(0), false
	for _, e := range []*leases.Elected{scheduler.Elected, controllers.Elected} {
		if l.Name != string(e.Role) {
			continue
		}
		answers, gap := checks.All(p, e.Instances)
		if gap != nil {
			return 0, false
		}
		for _, a := range answers {
			if a.Gap != nil {
				return 0, false
			}
			if leases.Stopped(a.Value) {
				continue
			}
			if a.Value.Started.IsZero() {
				return 0, false
			}
			longest, known = max(longest, at.Sub(a.Value.Started)), true
		}
	}
	return longest, known && longest <= l.Duration+time.Duration(graceShare*float64(l.Duration))
}

// strangers names the instances of a lease's component, if they are known and the
// holder is none of them.
func strangers(p *checks.Pass, l leases.Lease) ([]string, bool) {
	var run []string
	for _, e := range []*leases.Elected{scheduler.Elected, controllers.Elected} {
		if !l.Core() || l.Holder == "" || l.Name != string(e.Role) {
			continue
		}
		answers, gap := checks.All(p, e.Instances)
		if gap != nil {
			return nil, false
		}
		for _, a := range answers {
			if a.Gap != nil || l.HeldBy(a.Value) {
				return nil, false
			}
			run = append(run, a.Target.Name)
		}
	}
	return run, len(run) > 0
}
