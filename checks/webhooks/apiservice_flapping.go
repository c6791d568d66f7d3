package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed apiservice_flapping.md
var aPIServiceFlappingDoc string

// APIServiceFlapping looks for groups of the API whose server answers now and then only.
var APIServiceFlapping = &checks.Check{
	ID:        "apiservice-flapping",
	Component: collectors.Webhooks,
	Title:     "extension API servers answer all the time",
	Doc:       aPIServiceFlappingDoc,
	Needs:     []collectors.Any{webhooks.Extensions, apiserver.Unavailables},
	Remedies: []checks.Remedy{
		{Title: "see what the API server says of it now", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "see whether its pods restart or are short of CPU", Command: "kubectl get pods -A -o wide | grep -iE 'metrics-server|adapter|apiserver'", Risk: checks.ReadOnly},
	},
	Run: aPIServiceFlapping,
}

func aPIServiceFlapping(p *checks.Pass) {
	es, ok := extensions(p)
	if !ok {
		return
	}
	by, gap, elapsed := addTallies(p, apiserver.Unavailables)
	for _, e := range es {
		t := extension(e.Name)
		g := by[e.Name]
		switch {
		case e.Known && !e.Available:
			p.Nothing(t, "%s is not served at all: apiservice-unavailable says so", e.GroupVersion())
		case gap != nil:
			p.Unknown(t, gap)
		case elapsed == 0:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "found unavailable %.0f times since the API servers started; whether that goes on is not known without a second look", g.Lifetime))
		case g.Window > 0:
			// Source of the rule: kubernetes-mixin KubeAggregatedAPIErrors, any in 10 minutes.
			p.Warn(t, "%s was found unavailable %.0f times in %s, and is available again", e.GroupVersion(), g.Window, checks.Span(elapsed)).
				Saw(apiserver.Unavailables, e.Name, fmt.Sprintf("%.0f", g.Window), "0", "kubernetes-mixin KubeAggregatedAPIErrors").Mark("group=" + e.Group)
		default:
			p.OK(t, "%s was never found unavailable in %s; %.0f times before", e.GroupVersion(), checks.Span(elapsed), g.Lifetime-g.Window).
				Saw(apiserver.Unavailables, e.Name, "0", "0", "kubernetes-mixin KubeAggregatedAPIErrors")
		}
	}
}
