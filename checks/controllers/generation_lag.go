package controllers

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed generation_lag.md
var generationLagDoc string

// GenerationLag looks for objects whose controller has not seen their last
// change.
var GenerationLag = &checks.Check{
	ID:        "deployment-generation-lag",
	Component: collectors.Controllers,
	Title:     "controllers see changes of workloads within a minute",
	Doc:       generationLagDoc,
	Needs:     []collectors.Any{controllers.Work},
	Remedies: []checks.Remedy{
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "list Deployments that are behind", Command: "kubectl get deployments -A -o json | jq -r '.items[]|select((.status.observedGeneration//0)<.metadata.generation)|.metadata.namespace+\"/\"+.metadata.name'", Risk: checks.ReadOnly},
	},
	Run: generationLag,
}

// stalled is how many objects of at least two kinds show that it is not one
// controller, nor one object, but all of them. It is RULES' own number.
const stalled = 3

func generationLag(p *checks.Pass) {
	for t, w := range checks.Each(p, controllers.Work) {
		var behind, kinds, undated, all int
		var parts []string
		var oldest controllers.Backlog
		for _, b := range w.Generations {
			all, undated = all+b.Objects, undated+b.Undated
			if b.Behind == 0 {
				continue
			}
			behind, kinds = behind+b.Behind, kinds+1
			parts = append(parts, checks.Count(b.Behind, b.Kind))
			if b.Oldest > oldest.Oldest {
				oldest = b
			}
		}
		switch {
		case behind > 0:
			s := checks.Warning
			if behind >= stalled && kinds >= 2 {
				s = checks.Critical
			}
			v := p.Judge(t, s, "no controller has seen the last change of %s, for up to %s (%s)", strings.Join(parts, ", "), checks.Span(oldest.Oldest), oldest.Example).
				Saw(controllers.Work, "behind", fmt.Sprint(behind), "0", "").
				Saw(controllers.Work, "oldest", checks.Span(oldest.Oldest), checks.Span(controllers.Patience), "experience; a watch takes milliseconds").
				Number("objects", float64(behind)).Number("oldest", oldest.Oldest.Seconds())
			for _, b := range w.Generations {
				if b.Behind > 0 {
					v.Mark("queue=" + strings.ToLower(b.Kind))
				}
			}
		case undated > 0:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "the last change of %s was not seen yet; since when is not known: they do not say when they were changed", checks.Count(undated, "object")))
		default:
			p.OK(t, "of %s none waits for longer than %s to be seen", checks.Count(all, "workload"), checks.Span(controllers.Patience)).
				Saw(controllers.Work, "behind", "0", "", "")
		}
	}
}
