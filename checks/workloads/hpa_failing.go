package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed hpa_failing.md
var hpaFailingDoc string

// HPAFailing looks for autoscalers that nobody looks at or that have nothing to go by.
var HPAFailing = &checks.Check{
	ID:        "kcm-hpa-failing",
	Component: collectors.Controllers,
	Title:     "every HorizontalPodAutoscaler is looked at and has its metrics",
	Doc:       hpaFailingDoc,
	Needs:     []collectors.Any{controllers.Autoscalers},
	Remedies: []checks.Remedy{
		{Title: "read what it lacks", Command: "kubectl -n {ns} describe hpa {obj}", Risk: checks.ReadOnly},
		{Title: "see whether the metrics APIs are served", Command: "kubectl get apiservices | grep metrics", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Autoscalers, words{
			lag: "never looked at by their controller,",
			ok:  "waits for its controller",
		})
	},
}
