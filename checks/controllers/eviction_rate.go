package controllers

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed eviction_rate.md
var evictionRateDoc string

// EvictionRate looks for nodes that the controller manager gives up.
var EvictionRate = &checks.Check{
	ID:        "kcm-eviction-rate",
	Component: collectors.Controllers,
	Title:     "the controller manager gives up no node",
	Doc:       evictionRateDoc,
	Needs:     []collectors.Any{controllers.Tallies, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which nodes", Command: "kubectl get nodes -L topology.kubernetes.io/zone", Risk: checks.ReadOnly},
		{Title: "see what was evicted", Command: "kubectl get events -A --field-selector reason=TaintManagerEviction", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		count(p, counter{
			of:   func(t controllers.Tally) controllers.Counted { return t.Evictions },
			what: "nodes given up and their pods evicted", status: checks.Warning, source: "experience; kubernetes --node-eviction-rate is 0.1/s",
		})
	},
}
