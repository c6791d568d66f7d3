package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed job_stuck.md
var jobStuckDoc string

// JobStuck looks for Jobs that no controller has begun, or whose ended pods it does not count.
var JobStuck = &checks.Check{
	ID:        "job-stuck",
	Component: collectors.Controllers,
	Title:     "every Job is begun at once, and its ended pods are counted",
	Doc:       jobStuckDoc,
	Needs:     []collectors.Any{controllers.Jobs},
	Remedies: []checks.Remedy{
		{Title: "see it and its pods", Command: "kubectl -n {ns} describe job {obj}", Risk: checks.ReadOnly},
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Jobs, words{
			lag:    "not begun, or not counted further, by their controller",
			ok:     "waits for its controller",
			source: "kubernetes-mixin KubeJobNotCompleted",
		})
	},
}
