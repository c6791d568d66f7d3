package controllers

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed scale_lag.md
var scaleLagDoc string

// ScaleLag looks for ReplicaSets that have another number of pods than they ask
// for, without anything having refused them.
var ScaleLag = &checks.Check{
	ID:        "replicaset-scale-lag",
	Component: collectors.Controllers,
	Title:     "every ReplicaSet has the pods that it asks for, or says why not",
	Doc:       scaleLagDoc,
	Needs:     []collectors.Any{controllers.Work},
	Remedies: []checks.Remedy{
		{Title: "list ReplicaSets that are behind", Command: "kubectl get replicasets -A -o json | jq -r '.items[]|select(.status.replicas!=.spec.replicas)|.metadata.namespace+\"/\"+.metadata.name'", Risk: checks.ReadOnly},
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
	},
	Run: scaleLag,
}

func scaleLag(p *checks.Pass) {
	for t, w := range checks.Each(p, controllers.Work) {
		b := w.Scales
		switch {
		case b.Behind > 0:
			// One may be an oddity of that ReplicaSet; several are the controller's.
			s := checks.Warning
			if b.Behind >= stalled {
				s = checks.Critical
			}
			p.Judge(t, s, "%s: not the number of pods asked for, no failure told and nothing written for up to %s (%s)", checks.Count(b.Behind, "ReplicaSet"), checks.Span(b.Oldest), b.Example).
				Saw(controllers.Work, "ReplicaSets behind", fmt.Sprint(b.Behind), "0", "").
				Saw(controllers.Work, "oldest", checks.Span(b.Oldest), checks.Span(controllers.Patience), "experience; creating a pod takes milliseconds").
				Number("objects", float64(b.Behind)).Number("oldest", b.Oldest.Seconds()).Mark("queue=replicaset")
		case b.Undated > 0:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%s without the number of pods asked for; since when is not known: they do not say when they were changed", checks.Count(b.Undated, "ReplicaSet")))
		default:
			p.OK(t, "of %s none lacks pods, or has too many, for longer than %s without saying why", checks.Count(b.Objects, "ReplicaSet"), checks.Span(controllers.Patience)).
				Saw(controllers.Work, "ReplicaSets behind", "0", "", "")
		}
	}
}
