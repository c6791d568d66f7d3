package controllers

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed deployment_not_progressing.md
var notProgressingDoc string

// NotProgressing looks for Deployments that have given up on their rollout.
var NotProgressing = &checks.Check{
	ID:        "deployment-not-progressing",
	Component: collectors.Controllers,
	Title:     "no Deployment has given up on its rollout",
	Doc:       notProgressingDoc,
	Needs:     []collectors.Any{controllers.Refused},
	Remedies: []checks.Remedy{
		{Title: "list the Deployments", Command: "kubectl get deployments -A -o json | jq -r '.items[]|select(any(.status.conditions[]?;.reason==\"ProgressDeadlineExceeded\"))|.metadata.namespace+\"/\"+.metadata.name'", Risk: checks.ReadOnly},
		{Title: "list pods that do not run", Command: "kubectl get pods -A --field-selector=status.phase!=Running,status.phase!=Succeeded", Risk: checks.ReadOnly},
	},
	Run: notProgressing,
}

func notProgressing(p *checks.Pass) {
	for t, r := range checks.Each(p, controllers.Refused) {
		d := r.Deployments
		if d.Objects == 0 {
			p.OK(t, "of %s none has given up on its rollout", checks.Count(d.All, "Deployment")).
				Saw(controllers.Refused, "ProgressDeadlineExceeded", "0", "", "")
			continue
		}
		v := p.Warn(t, "%d of %s gave up on a rollout, the first %s ago (%s)", d.Objects, checks.Count(d.All, "Deployment"), checks.Span(d.Oldest), d.Example).
			Saw(controllers.Refused, "ProgressDeadlineExceeded", fmt.Sprint(d.Objects), "0", "progressDeadlineSeconds of each, 600 by default").
			Saw(controllers.Refused, d.Example, d.Message, "", "").
			Number("objects", float64(d.Objects))
		for _, n := range d.Names {
			v.Mark("deployment=" + n)
		}
	}
}
