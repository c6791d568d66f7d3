package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed endpoint_lag.md
var endpointLagDoc string

// EndpointLag looks for Services whose EndpointSlices are not what their pods are.
var EndpointLag = &checks.Check{
	ID:        "endpoint-lag",
	Component: collectors.Controllers,
	Title:     "the EndpointSlices of every Service are what its pods are",
	Doc:       endpointLagDoc,
	Needs:     []collectors.Any{controllers.Endpoints},
	Remedies: []checks.Remedy{
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "compare the pods of one of the Services with its slices", Command: "kubectl get endpointslices -A -o wide", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Endpoints, words{
			lag: "with EndpointSlices that lack a ready pod, hold one that is not, or do not exist,",
			ok:  "has slices that its pods have left behind",
		})
	},
}
