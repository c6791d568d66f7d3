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
		{Title: "see the pods: whether they run, and how they ended if not", Command: "kubectl -n kube-system get pods -l component=kube-scheduler -o wide", Risk: checks.ReadOnly},
		{Title: "of one that ended, read its last words; of one that runs and does not answer, leave out --previous", Command: "kubectl -n kube-system logs -l component=kube-scheduler --previous --tail=50 --prefix", Risk: checks.ReadOnly},
		{Title: "on the node, see whether the process is there (state T is stopped, D waits for the disk), and its manifest and certificate", Command: "ps -o pid,stat,etime,args -C kube-scheduler; ls -l /etc/kubernetes/manifests/kube-scheduler.yaml; kubeadm certs check-expiration", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) { leases.Down(p, scheduler.Elected, controllers.Elected) },
}
