package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed default_objects_missing.md
var defaultObjectsMissingDoc string

// DefaultObjectsMissing looks for namespaces that lack what controllers put into each.
var DefaultObjectsMissing = &checks.Check{
	ID:        "kcm-default-objects-missing",
	Component: collectors.Controllers,
	Title:     "every namespace has its default service account and the API server's CA",
	Doc:       defaultObjectsMissingDoc,
	Needs:     []collectors.Any{controllers.Defaults},
	Remedies: []checks.Remedy{
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "list the namespaces' service accounts", Command: "kubectl get serviceaccounts -A --field-selector metadata.name=default", Risk: checks.ReadOnly},
		{Title: "list their CA bundles", Command: "kubectl get configmaps -A --field-selector metadata.name=kube-root-ca.crt", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Defaults, words{
			lag: "without the service account default or the ConfigMap kube-root-ca.crt",
			ok:  "lacks its service account or the CA",
		})
	},
}
