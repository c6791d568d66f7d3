package webhooks

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_stored_versions.md
var crdStoredVersionsDoc string

// CRDStoredVersions looks for versions in which objects may be stored and that are gone.
var CRDStoredVersions = &checks.Check{
	ID:        "crd-stored-versions",
	Component: collectors.Webhooks,
	Title:     "objects are stored in versions that their CustomResourceDefinition has",
	Doc:       crdStoredVersionsDoc,
	Needs:     []collectors.Any{webhooks.Defined},
	Remedies: []checks.Remedy{
		{Title: "see in which versions objects may be stored, and which there are", Command: "kubectl get {ns} {obj} -o jsonpath='{.status.storedVersions}{\"\\n\"}{.spec.versions[*].name}{\"\\n\"}'", Risk: checks.ReadOnly},
		{Title: "write every object anew, in the version in which they are stored now; then take the old one out of status.storedVersions", Command: "kubectl get {obj} -A -o json | kubectl replace -f -", Risk: checks.Disruptive},
	},
	Run: crdStoredVersions,
}

func crdStoredVersions(p *checks.Pass) {
	d, ok := definitions(p)
	if !ok {
		return
	}
	bad := 0
	for _, x := range d.Bad {
		if len(x.Lost)+len(x.Unserved) == 0 || !x.Deleted.IsZero() {
			continue
		}
		bad++
		t := definition(x.Name)
		if len(x.Lost) > 0 {
			p.Warn(t, "objects may be stored as %s, which it does not have any more: they cannot be read", checks.List(x.Lost, 3)).
				Saw(webhooks.Defined, "storedVersions", strings.Join(x.Lost, ", "), "spec.versions", "Kubernetes documentation, versions of CustomResourceDefinitions")
			continue
		}
		p.Info(t, "objects may still be stored as %s, which is not served any more: write them anew before it is taken out", checks.List(x.Unserved, 3)).
			Saw(webhooks.Defined, "storedVersions", strings.Join(x.Unserved, ", "), "", "Kubernetes documentation, versions of CustomResourceDefinitions")
	}
	if bad == 0 {
		p.OK(webhooks.All, "%s: no version is stored that is gone", checks.Count(d.All, "CustomResourceDefinition"))
	}
}
