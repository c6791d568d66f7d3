package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed gc_orphans.md
var gcOrphansDoc string

// GCOrphans looks for objects that outlive their owners.
var GCOrphans = &checks.Check{
	ID:        "gc-orphans",
	Component: collectors.Controllers,
	Title:     "what belongs to an object that is gone is gone as well",
	Doc:       gcOrphansDoc,
	Needs:     []collectors.Any{controllers.Orphans},
	Remedies: []checks.Remedy{
		{Title: "read what the garbage collector says", Command: "kubectl -n kube-system logs -l component=kube-controller-manager --tail=500 | grep -i garbagecollector", Risk: checks.ReadOnly},
		{Title: "see which groups of the API are not served", Command: "kubectl get apiservices | grep False", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Orphans, words{
			lag:   "whose Deployment is gone, unwritten",
			ok:    "outlives its Deployment, beyond the 50 that a deletion under way may show",
			least: orphansWarn,
		})
	},
}

// orphansWarn is RULES' number; it is experience, so it ends at a warning.
const orphansWarn = 50
