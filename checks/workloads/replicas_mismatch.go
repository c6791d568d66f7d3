package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed replicas_mismatch.md
var replicasMismatchDoc string

// ReplicasMismatch looks for Deployments that have had too few pods for long.
var ReplicasMismatch = &checks.Check{
	ID:        "deployment-replicas-mismatch",
	Component: collectors.Controllers,
	Title:     "every Deployment has the pods available that it must have",
	Doc:       replicasMismatchDoc,
	Needs:     []collectors.Any{controllers.Deployments},
	Remedies: []checks.Remedy{
		{Title: "see it and its pods", Command: "kubectl -n {ns} describe deployment {obj}", Risk: checks.ReadOnly},
		{Title: "read why its pods do not run", Command: "kubectl -n {ns} get events --sort-by=.lastTimestamp", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Deployments, words{
			ok:     "has lacked pods for 15m",
			source: "kubernetes-mixin KubeDeploymentReplicasMismatch",
			grave:  true,
		})
	},
}
