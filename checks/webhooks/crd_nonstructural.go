package webhooks

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_nonstructural.md
var crdNonstructuralDoc string

// CRDNonstructural looks for definitions with a schema of before 1.16.
var CRDNonstructural = &checks.Check{
	ID:        "crd-nonstructural",
	Component: collectors.Webhooks,
	Title:     "every CustomResourceDefinition has a structural schema",
	Doc:       crdNonstructuralDoc,
	Needs:     []collectors.Any{webhooks.Defined},
	Remedies: []checks.Remedy{
		{Title: "see its conditions", Command: "kubectl get {ns} {obj} -o jsonpath='{.status}'", Risk: checks.ReadOnly},
	},
	Run: crdNonstructural,
}

func crdNonstructural(p *checks.Pass) {
	d, ok := definitions(p)
	if !ok {
		return
	}
	bad := 0
	for _, x := range d.Bad {
		if x.Nonstructural == "" {
			continue
		}
		bad++
		t := definition(x.Name)
		p.Info(t, "its schema is not structural, so nothing is pruned or defaulted: %s", x.Nonstructural).
			Saw(webhooks.Defined, "NonStructuralSchema", x.Nonstructural, "", "")
	}
	if bad == 0 {
		p.OK(webhooks.All, "%s: all have a structural schema", checks.Count(d.All, "CustomResourceDefinition"))
	}
}
