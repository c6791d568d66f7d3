package webhooks

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_not_established.md
var crdNotEstablishedDoc string

// CRDNotEstablished looks for definitions that the API server does not serve.
var CRDNotEstablished = &checks.Check{
	ID:        "crd-not-established",
	Component: collectors.Webhooks,
	Title:     "every CustomResourceDefinition is served",
	Doc:       crdNotEstablishedDoc,
	Needs:     []collectors.Any{webhooks.Defined},
	Remedies: []checks.Remedy{
		{Title: "see its conditions", Command: "kubectl get {ns} {obj} -o jsonpath='{.status}'", Risk: checks.ReadOnly},
		{Title: "see which other definition has its names", Command: "kubectl get crd -o custom-columns=NAME:.metadata.name,KIND:.spec.names.kind,SHORT:.spec.names.shortNames", Risk: checks.ReadOnly},
	},
	Run: crdNotEstablished,
}

// establishes is how long the API server may take; it takes some seconds at most.
const establishes = time.Minute

func crdNotEstablished(p *checks.Pass) {
	d, ok := definitions(p)
	if !ok {
		return
	}
	bad := 0
	for _, x := range d.Bad {
		if x.Refused == "" || !x.Deleted.IsZero() {
			continue
		}
		bad++
		t := definition(x.Name)
		age := p.Now().Sub(x.Since)
		if x.Since.IsZero() || age < establishes {
			p.Info(t, "it is not served yet: %s", x.Refused)
			continue
		}
		p.Warn(t, "it has not been served for %s: %s", checks.Span(age), x.Refused).
			Saw(webhooks.Defined, "condition", x.Refused, "Established", "")
	}
	if bad == 0 {
		p.OK(webhooks.All, "%s: all are established", checks.Count(d.All, "CustomResourceDefinition"))
	}
}
