package webhooks

import (
	_ "embed"
	"maps"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_registration_stuck.md
var crdRegistrationStuckDoc string

// CRDRegistrationStuck looks for groups that the API server has a definition of and does not serve.
var CRDRegistrationStuck = &checks.Check{
	ID:        "crd-registration-stuck",
	Component: collectors.Webhooks,
	Title:     "every group of a CustomResourceDefinition is registered",
	Doc:       crdRegistrationStuckDoc,
	Needs:     []collectors.Any{webhooks.Defined, webhooks.Registered},
	Remedies: []checks.Remedy{
		{Title: "see whether it is there, and what it says", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "see whether the controller that makes it has started", Command: "kubectl get --raw '/readyz?verbose' | grep -iE 'crd|apiservice'", Risk: checks.ReadOnly},
	},
	Run: crdRegistrationStuck,
}

// registers is how long it may take from a definition to its group; seconds.
const registers = time.Minute

func crdRegistrationStuck(p *checks.Pass) {
	d, gap := checks.One(p, webhooks.Defined)
	if gap == nil && d.All == 0 {
		p.Nothing(webhooks.All, "there is no CustomResourceDefinition")
		return
	}
	have, haveGap := checks.One(p, webhooks.Registered)
	if gap == nil {
		gap = haveGap
	}
	if gap != nil {
		p.Unknown(webhooks.All, gap)
		return
	}
	bad := 0
	for _, name := range slices.Sorted(maps.Keys(d.Served)) {
		available, there := have[name]
		if there && available || p.Now().Sub(d.Newest[name]) < registers {
			continue
		}
		bad++
		t := extension(name)
		words := "%s is established, and its group is not registered: its objects cannot be reached"
		if there {
			words = "%s is established, and its group is registered but not available: its objects cannot be reached"
		}
		p.Critical(t, words, d.Served[name]).Saw(webhooks.Defined, "established", d.Served[name], "", "").Mark("group=" + name)
	}
	if bad == 0 {
		p.OK(webhooks.All, "all groups and versions of %s are registered", checks.Count(d.All, "CustomResourceDefinition"))
	}
}
