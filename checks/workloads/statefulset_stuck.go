package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed statefulset_stuck.md
var statefulSetStuckDoc string

// StatefulSetStuck looks for StatefulSets that have been less than they should be for long.
var StatefulSetStuck = &checks.Check{
	ID:        "statefulset-stuck",
	Component: collectors.Controllers,
	Title:     "every StatefulSet has its pods ready and its rollouts done",
	Doc:       statefulSetStuckDoc,
	Needs:     []collectors.Any{controllers.StatefulSets},
	Remedies: []checks.Remedy{
		{Title: "see it and its pods", Command: "kubectl -n {ns} describe statefulset {obj}", Risk: checks.ReadOnly},
		{Title: "read why its pods do not run", Command: "kubectl -n {ns} get events --sort-by=.lastTimestamp", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.StatefulSets, words{
			ok:     "has been incomplete and unwritten for 15m",
			source: "kubernetes-mixin KubeStatefulSetReplicasMismatch, KubeStatefulSetUpdateNotRolledOut",
			grave:  true,
		})
	},
}
