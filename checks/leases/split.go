package leases

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed split.md
var splitDoc string

// Split looks for components of which more than one instance leads.
var Split = &checks.Check{
	ID:        "lease-split-metric",
	Component: collectors.Leases,
	Title:     "no two instances of a component lead at once",
	Doc:       splitDoc,
	Needs:     []collectors.Any{scheduler.Elected.Claims, controllers.Elected.Claims, scheduler.Elected.Instances, controllers.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "see who holds the lease", Command: "kubectl -n kube-system get leases kube-scheduler kube-controller-manager -o wide", Risk: checks.ReadOnly},
		{Title: "on the node of a controller manager that does not hold it, end its container (a scheduler's likewise); the kubelet starts it again", Command: "crictl stop $(crictl ps -q --name kube-controller-manager)", Risk: checks.Disruptive},
	},
	Run: func(p *checks.Pass) {
		split(p, scheduler.Elected)
		split(p, controllers.Elected)
	},
}

func split(p *checks.Pass, e *leases.Elected) {
	as, gap := checks.All(p, e.Claims)
	if gap != nil {
		p.Unknown(e.Self(), gap)
		return
	}
	var lead, both []string
	electing := 0
	var missing *collectors.Gap
	for _, a := range as {
		switch {
		case a.Gap != nil && stopped(p, e, a.Target):
			// no process, no leader
		case a.Gap != nil:
			missing = a.Gap
		case a.Value.Elects:
			electing++
			if a.Value.Leads {
				lead = append(lead, a.Target.Name)
			}
			if a.Value.Leads && a.Value.Led {
				both = append(both, a.Target.Name)
			}
		}
	}
	saw := func(v *checks.Verdict) {
		v.Saw(e.Claims, "take themselves for the leader", fmt.Sprint(len(lead)), "1", "client-go leader election")
	}
	switch {
	case len(both) > 1:
		saw(p.Critical(e.Self(), "%s all took themselves for the leader, at both looks", checks.List(both, 3)).Mark("split"))
	case missing != nil:
		p.Unknown(e.Self(), missing)
	case electing < 2:
		p.Nothing(e.Self(), "there are not two processes that could lead")
	case len(lead) > 1:
		// The instances are not asked in the same moment: the lease may have
		// changed hands in between.
		saw(p.OK(e.Self(), "%s took themselves for the leader at the last look, but not both at the look before: the lease may be changing hands", checks.List(lead, 3)))
	default:
		saw(p.OK(e.Self(), "%d of %s takes itself for the leader", len(lead), checks.Count(electing, "instance")))
	}
}
