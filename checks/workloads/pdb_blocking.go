package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed pdb_blocking.md
var pdbBlockingDoc string

// PDBBlocking looks for budgets that nobody looks at or that allow no eviction.
var PDBBlocking = &checks.Check{
	ID:        "pdb-blocking",
	Component: collectors.Controllers,
	Title:     "every PodDisruptionBudget is looked at, and allows an eviction",
	Doc:       pdbBlockingDoc,
	Needs:     []collectors.Any{controllers.Budgets},
	Remedies: []checks.Remedy{
		{Title: "see the budgets and what they allow", Command: "kubectl get pdb -A", Risk: checks.ReadOnly},
		{Title: "see it and its pods", Command: "kubectl -n {ns} describe pdb {obj}", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Budgets, words{
			lag:    "not looked at since their last change by their controller,",
			ok:     "waits for its controller",
			source: "cluster-kube-controller-manager-operator PodDisruptionBudgetLimit",
		})
	},
}
