package pods

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
)

//go:embed gated.md
var gatedDoc string

// Gated tells of pods that are kept from the scheduler on purpose.
var Gated = &checks.Check{
	ID:        "scheduler-gated-pods",
	Component: collectors.Pods,
	Title:     "no pod is kept from the scheduler by a gate",
	Doc:       gatedDoc,
	Needs:     []collectors.Any{pods.Pending},
	Remedies: []checks.Remedy{
		{Title: "list them with their gates", Command: "kubectl get pods -A --field-selector status.phase=Pending -o json | jq -r '.items[]|select(.spec.schedulingGates)|.metadata.namespace+\"/\"+.metadata.name+\" \"+([.spec.schedulingGates[].name]|join(\",\"))'", Risk: checks.ReadOnly},
	},
	Run: gated,
}

func gated(p *checks.Pass) {
	c, gap := checks.One(p, pods.Pending)
	if gap != nil {
		p.Unknown(pods.All, gap)
		return
	}
	groups := c.By(pods.Gated)
	if len(groups) == 0 {
		p.OK(pods.All, "of %s none is gated", checks.Count(c.Total, "pending pod")).Saw(pods.Pending, "gated", "0", "", "")
		return
	}
	all := c.Sum(pods.Gated)
	var gates []string
	for _, g := range groups {
		gates = append(gates, g.Key)
	}
	// It is advice whatever their age: a job queue holds pods back for days.
	v := p.Info(pods.All, "%s kept from the scheduler, for up to %s (%s), by gate %s", held(all.Count), checks.Span(all.Oldest), all.Example, checks.List(gates, 3)).
		Number("pods", float64(all.Count)).Number("oldest", all.Oldest.Seconds())
	for _, g := range groups[:min(len(groups), 5)] {
		v.Saw(pods.Pending, "gate "+g.Key, fmt.Sprint(g.Count), "", "")
	}
}

func held(n int) string {
	if n == 1 {
		return "1 pod is"
	}
	return fmt.Sprintf("%d pods are", n)
}
