package nodes

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed flapping.md
var flappingDoc string

// Flapping tells of nodes that were not ready a moment ago.
var Flapping = &checks.Check{
	ID:        "node-flapping",
	Component: collectors.Nodes,
	Title:     "nodes that are ready have been so for a while",
	Doc:       flappingDoc,
	Needs:     []collectors.Any{nodes.Conditions, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "see how often they have changed", Command: "kubectl get events -A --field-selector involvedObject.kind=Node --sort-by=.lastTimestamp", Risk: checks.ReadOnly},
	},
	Run: flapping,
}

// back is how long ago a node may have come back to be told. One look cannot
// tell once from often, so it is advice. Source of the time: RULES.
const back = 5 * time.Minute

func flapping(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	at := now(p)
	some := slices.DeleteFunc(slices.Clone(h.Changed), func(n nodes.Node) bool {
		return n.Since.IsZero() || at.Sub(n.Since) >= back || n.Since.Sub(n.Created) < joins
	})
	if len(some) == 0 {
		p.OK(nodes.All, "of %s none has just come back", checks.Count(h.All-h.Failing, "ready node")).
			Saw(nodes.Conditions, "came back", "0", checks.Span(back), "")
		return
	}
	p.Info(nodes.All, "of %s %d came back within %s, the last %s ago: %s", checks.Count(h.All-h.Failing, "ready node"), len(some), checks.Span(back), checks.Span(at.Sub(some[0].Since)), checks.List(names(some), 3)).
		Saw(nodes.Conditions, "came back", fmt.Sprint(len(some)), checks.Span(back), "kubernetes-mixin KubeNodeReadinessFlapping looks at 15 minutes").
		Number("nodes", float64(len(some)))
}
