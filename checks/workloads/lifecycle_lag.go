package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed lifecycle_lag.md
var lifecycleLagDoc string

// LifecycleLag looks for nodes whose state the controller manager has not taken
// note of.
var LifecycleLag = &checks.Check{
	ID:        "node-lifecycle-lag",
	Component: collectors.Controllers,
	Title:     "the controller manager takes note of every node's state",
	Doc:       lifecycleLagDoc,
	Needs:     []collectors.Any{controllers.Lifecycle},
	Remedies: []checks.Remedy{
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "see the nodes and their taints", Command: "kubectl get nodes -o custom-columns=NODE:.metadata.name,READY:'.status.conditions[?(@.type==\"Ready\")].status',TAINTS:.spec.taints[*].key", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Lifecycle, words{
			lag: "whose state no controller has taken note of",
			ok:  "is in a state that no controller has taken note of",
		})
	},
}
