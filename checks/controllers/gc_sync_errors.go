package controllers

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed gc_sync_errors.md
var gcSyncErrorsDoc string

// GCSyncErrors looks for a garbage collector that cannot follow all kinds of objects.
var GCSyncErrors = &checks.Check{
	ID:        "kcm-gc-sync-errors",
	Component: collectors.Controllers,
	Title:     "the garbage collector follows every kind of object",
	Doc:       gcSyncErrorsDoc,
	Needs:     []collectors.Any{controllers.Tallies, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see what it cannot list", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=500 | grep -i garbage", Risk: checks.ReadOnly},
		{Title: "see which groups of the API are not served", Command: "kubectl get apiservices | grep False", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		count(p, counter{
			of:   func(t controllers.Tally) controllers.Counted { return t.GC },
			what: "failed attempts of the garbage collector to follow all kinds of objects", status: checks.Warning, source: "cluster-kube-controller-manager-operator GarbageCollectorSyncFailed",
			lasting: gcLasting,
		})
	},
}

// gcLasting is five minutes of attempts, one every half minute. The alert that
// this follows waits for an hour: an API server that starts fails some.
const gcLasting = 10
