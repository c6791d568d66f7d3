package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed daemonset_stuck.md
var daemonSetStuckDoc string

// DaemonSetStuck looks for DaemonSets that do not run where they should, and for nodes that their controller has not taken up.
var DaemonSetStuck = &checks.Check{
	ID:        "daemonset-stuck",
	Component: collectors.Controllers,
	Title:     "every DaemonSet runs on every node that it should be on",
	Doc:       daemonSetStuckDoc,
	Needs:     []collectors.Any{controllers.DaemonSets},
	Remedies: []checks.Remedy{
		{Title: "see it and its pods", Command: "kubectl -n {ns} describe daemonset {obj}", Risk: checks.ReadOnly},
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.DaemonSets, words{
			lag:    "wanted on fewer nodes than there are for them",
			ok:     "is behind with a node",
			source: "kubernetes-mixin KubeDaemonSetRolloutStuck, KubeDaemonSetNotScheduled",
			grave:  true,
		})
	},
}
