package scheduler

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed no_leader.md
var noLeaderDoc string

// NoLeader looks for the schedulers having no leader.
var NoLeader = &checks.Check{
	ID:        "scheduler-no-leader",
	Component: collectors.Scheduler,
	Title:     "one of the schedulers leads",
	Doc:       noLeaderDoc,
	Needs:     leases.NoLeaderNeeds(scheduler.Elected),
	Remedies: []checks.Remedy{
		{Title: "see who held the lease last", Command: "kubectl -n kube-system get lease kube-scheduler -o yaml", Risk: checks.ReadOnly},
		{Title: "see why no candidate takes it", Command: "kubectl -n kube-system logs -l component=kube-scheduler --tail=50 --prefix | grep -iE 'lease|leader'", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { leases.NoLeader(p, scheduler.Elected) },
}
