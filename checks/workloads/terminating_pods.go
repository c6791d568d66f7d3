package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed terminating_pods.md
var terminatingPodsDoc string

// TerminatingPods looks for pods that were deleted and stay.
var TerminatingPods = &checks.Check{
	ID:        "kcm-terminating-pods",
	Component: collectors.Controllers,
	Title:     "pods that are deleted are gone when their grace period is over",
	Doc:       terminatingPodsDoc,
	Needs:     []collectors.Any{controllers.Deleted},
	Remedies: []checks.Remedy{
		{Title: "see the pod and its node", Command: "kubectl -n {ns} get pod {obj} -o wide", Risk: checks.ReadOnly},
		{Title: "if the node is gone for good, let its pods go", Command: "kubectl taint node NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", Risk: checks.Disruptive},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Deleted, words{
			ok: "has outstayed its grace period by 5m",
		})
	},
}
