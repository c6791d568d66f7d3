package pods

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

// unclaimed returns the pods that name resource claims and of which the
// scheduler has said nothing. It does not say anything of a pod before all its
// claims are there (plugin DynamicResources, PreEnqueue), but counts it among
// those that it keeps back: held. Without a leader's count, known is false.
func unclaimed(p *checks.Pass, c pods.Census) (groups []pods.Group, held, known bool) {
	groups = c.By(pods.Unclaimed)
	wait := float64(c.Sum(pods.Unclaimed).Count)
	if wait == 0 {
		return nil, false, false
	}
	qs, _ := checks.All(p, scheduler.Pending)
	for _, q := range qs {
		if l, gap := checks.Of(p, scheduler.Elected.Leads, q.Target); q.Gap == nil && gap == nil && l.Leads {
			known = true
			held = held || q.Value.Now.Gated >= wait+float64(c.Sum(pods.Gated).Count)
		}
	}
	return groups, held, known
}
