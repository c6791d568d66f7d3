package webhooks

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_openapi_churn.md
var crdOpenAPIChurnDoc string

// CRDOpenAPIChurn looks for definitions that are written all the time.
var CRDOpenAPIChurn = &checks.Check{
	ID:        "crd-openapi-churn",
	Component: collectors.Webhooks,
	Title:     "nobody writes CustomResourceDefinitions over and over",
	Doc:       crdOpenAPIChurnDoc,
	Needs:     []collectors.Any{apiserver.Republished},
	Remedies: []checks.Remedy{
		{Title: "see who wrote it last, and when", Command: "kubectl get {ns} {obj} -o yaml --show-managed-fields | grep -E 'manager:|time:'", Risk: checks.ReadOnly},
	},
	Run: crdOpenAPIChurn,
}

// churn is how often a definition may change in a minute. No number is published;
// who installs an operator changes each of its own once or twice. So it takes as
// many changes in one window as nobody makes by hand.
const (
	churn       = 1.0 / 60
	churnLeast  = 3
	churnSource = "experience; no public source"
)

func crdOpenAPIChurn(p *checks.Pass) {
	by, gap, elapsed := addTallies(p, apiserver.Republished)
	switch {
	case gap != nil:
		p.Unknown(webhooks.All, gap)
		return
	case elapsed < time.Second:
		p.Unknown(webhooks.All, collectors.Gapf(collectors.Absent, "whether definitions change is not known without a second look"))
		return
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b].Window, by[a].Window), cmp.Compare(a, b)) })
	instances, _ := checks.All(p, apiserver.Republished)
	bad := 0
	for _, n := range names {
		// Every API server counts each change.
		if g := perInstance(by[n], len(instances)); g.Window >= churnLeast && g.Window/elapsed.Seconds() > churn {
			bad++
			p.Warn(definition(n), "changed %.0f times in %s: each time every API server makes its OpenAPI document anew, and every client reads it again", g.Window, checks.Span(elapsed)).
				Saw(apiserver.Republished, n, fmt.Sprintf("%.0f", g.Window), fmt.Sprint(churnLeast), churnSource)
		}
	}
	if bad == 0 {
		p.OK(webhooks.All, "no CustomResourceDefinition changed %d times in %s", churnLeast, checks.Span(elapsed))
	}
}

func perInstance(g metrics.Growth, n int) metrics.Growth {
	return metrics.Growth{Window: g.Window / float64(max(1, n)), Lifetime: g.Lifetime / float64(max(1, n))}
}
