package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed quota_full.md
var quotaFullDoc string

// QuotaFull looks for quotas that nobody keeps up to date or that are full.
var QuotaFull = &checks.Check{
	ID:        "quota-full",
	Component: collectors.Controllers,
	Title:     "every ResourceQuota is kept up to date, and has room",
	Doc:       quotaFullDoc,
	Needs:     []collectors.Any{controllers.Quotas},
	Remedies: []checks.Remedy{
		{Title: "see what is used", Command: "kubectl -n {ns} describe quota {obj}", Risk: checks.ReadOnly},
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Quotas, words{
			lag:    "not kept up to date by their controller",
			ok:     "waits for its controller",
			source: "kubernetes-mixin KubeQuotaFullyUsed",
		})
	},
}
