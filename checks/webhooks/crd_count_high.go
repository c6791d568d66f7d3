package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed crd_count_high.md
var crdCountHighDoc string

// CRDCountHigh counts definitions.
var CRDCountHigh = &checks.Check{
	ID:        "crd-count-high",
	Component: collectors.Webhooks,
	Title:     "there are no more CustomResourceDefinitions than discovery takes",
	Doc:       crdCountHighDoc,
	Needs:     []collectors.Any{webhooks.Defined},
	Remedies: []checks.Remedy{
		{Title: "count them by group", Command: "kubectl get crd -o name | cut -d. -f2- | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{crdsManyAt},
	Run:        crdCountHigh,
}

// crdsMany is the number that SIG Scalability's thresholds name. No alert on it
// is published, so that it is advice.
const crdsMany = 500

var crdsManyAt = checks.NewThreshold("warn", checks.InNumber, crdsMany, "CustomResourceDefinitions", "experience; no public source")

func crdCountHigh(p *checks.Pass) {
	d, ok := definitions(p)
	if !ok {
		return
	}
	s, words := checks.OK, "%s, of the %d up to which discovery is known to be quick"
	if int64(d.All) > p.Whole(crdsManyAt) {
		s, words = checks.Info, "%s, above %d: each costs every client's discovery and every API server's memory"
	}
	p.Judge(webhooks.All, s, words, checks.Count(d.All, "CustomResourceDefinition"), p.Whole(crdsManyAt)).
		Saw(webhooks.Defined, "count", fmt.Sprint(d.All), fmt.Sprint(p.Whole(crdsManyAt)), "SIG Scalability's thresholds name 500; no alert of it is published")
}
