package webhooks

import (
	"cmp"
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_terminating_stuck.md
var crdTerminatingStuckDoc string

// CRDTerminatingStuck looks for definitions whose deletion does not end.
var CRDTerminatingStuck = &checks.Check{
	ID:        "crd-terminating-stuck",
	Component: collectors.Webhooks,
	Title:     "CustomResourceDefinitions that are deleted go away",
	Doc:       crdTerminatingStuckDoc,
	Needs:     []collectors.Any{webhooks.Defined},
	Remedies: []checks.Remedy{
		{Title: "see its conditions", Command: "kubectl get {ns} {obj} -o jsonpath='{.status}'", Risk: checks.ReadOnly},
		{Title: "list what is left of it", Command: "kubectl get {obj} -A", Risk: checks.ReadOnly},
		{Title: "see the finalizers of what is left, and whose controller they are", Command: "kubectl get {obj} -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers", Risk: checks.ReadOnly},
	},
	Run: crdTerminatingStuck,
}

// goesAway is how long the deletion may take.
const goesAway = 5 * time.Minute

func crdTerminatingStuck(p *checks.Pass) {
	d, ok := definitions(p)
	if !ok {
		return
	}
	bad := 0
	for _, x := range d.Bad {
		if x.Deleted.IsZero() {
			continue
		}
		bad++
		t := definition(x.Name)
		age := p.Now().Sub(x.Deleted)
		if age < goesAway {
			p.Info(t, "it is being deleted, for %s", checks.Span(age))
			continue
		}
		p.Warn(t, "its deletion has not ended for %s: %s", checks.Span(age), cmp.Or(x.Waits, "its finalizers are not taken off")).
			Saw(webhooks.Defined, "Terminating", x.Waits, checks.Span(goesAway), "experience; no public source")
	}
	if bad == 0 {
		p.OK(webhooks.All, "%s: none is being deleted", checks.Count(d.All, "CustomResourceDefinition"))
	}
}
