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
