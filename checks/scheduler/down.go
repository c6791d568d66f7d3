package scheduler

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed down.md
var downDoc string

// Down looks for schedulers that do not work.
var Down = &checks.Check{
	ID:        "scheduler-down",
	Component: collectors.Scheduler,
	Title:     "every scheduler is healthy",
	Doc:       downDoc,
	Needs:     leases.DownNeeds(scheduler.Elected, controllers.Elected),
	Remedies: []checks.Remedy{
		{Title: "see the pods and how they ended", Command: "kubectl -n kube-system get pods -l component=kube-scheduler -o wide", Risk: checks.ReadOnly},
		{Title: "read the log of the container that ended", Command: "kubectl -n kube-system logs -l component=kube-scheduler --previous --tail=50 --prefix", Risk: checks.ReadOnly},
		{Title: "on the node, see whether its manifest and its certificate are in order", Command: "ls -l /etc/kubernetes/manifests/kube-scheduler.yaml; kubeadm certs check-expiration", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { leases.Down(p, scheduler.Elected, controllers.Elected) },
}
