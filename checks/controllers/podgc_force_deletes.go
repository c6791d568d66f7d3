package controllers

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed podgc_force_deletes.md
var podGCForceDeletesDoc string

// PodGCForceDeletes looks for pods that are deleted without their kubelets.
var PodGCForceDeletes = &checks.Check{
	ID:        "kcm-podgc-force-deletes",
	Component: collectors.Controllers,
	Title:     "no pod is deleted without its kubelet having ended it",
	Doc:       podGCForceDeletesDoc,
	Needs:     []collectors.Any{controllers.Tallies, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which nodes are gone or marked as out of service", Command: "kubectl get nodes -o wide", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		count(p, counter{
			of:   func(t controllers.Tally) controllers.Counted { return t.Forced },
			what: "pods deleted by force, their nodes being gone,", status: checks.Warning, source: "experience; no public source",
		})
	},
}
