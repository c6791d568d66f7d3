package controllers

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed no_leader.md
var noLeaderDoc string

// NoLeader looks for the controller managers having no leader.
var NoLeader = &checks.Check{
	ID:        "kcm-no-leader",
	Component: collectors.Controllers,
	Title:     "one of the controller managers leads",
	Doc:       noLeaderDoc,
	Needs:     leases.NoLeaderNeeds(controllers.Elected),
	Remedies: []checks.Remedy{
		{Title: "see who held the lease last", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "see why no candidate takes it", Command: "kubectl -n kube-system logs -l component=kube-controller-manager --tail=50 --prefix | grep -iE 'lease|leader'", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { leases.NoLeader(p, controllers.Elected) },
}
