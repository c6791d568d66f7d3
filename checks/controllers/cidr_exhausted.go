package controllers

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed cidr_exhausted.md
var cidrExhaustedDoc string

// CIDRExhausted looks for ranges of pod addresses that no further node gets a
// part of.
var CIDRExhausted = &checks.Check{
	ID:        "kcm-node-cidr-exhausted",
	Component: collectors.Controllers,
	Title:     "there are pod addresses left for further nodes",
	Doc:       cidrExhaustedDoc,
	Needs:     []collectors.Any{controllers.Tallies, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which nodes have none", Command: "kubectl get nodes -o custom-columns=NODE:.metadata.name,PODCIDR:.spec.podCIDR", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{cidrWarnAt},
	Run:        cidrExhausted,
}

// cidrWarn is experience; at all of it, the next node gets nothing.
const cidrWarn = 0.9

var cidrWarnAt = checks.NewThreshold("warn", checks.InRatio, cidrWarn, "of the pod addresses that are given to nodes", expertLimit)

func cidrExhausted(p *checks.Pass) {
	for t, x := range leases.EachLeader(p, controllers.Elected, controllers.Tallies) {
		if len(x.CIDRs) == 0 {
			p.Nothing(t, "it gives no pod addresses to nodes")
			continue
		}
		worst := x.CIDRs[0]
		for _, c := range x.CIDRs {
			if c.Used > worst.Used {
				worst = c
			}
		}
		s := checks.OK
		if worst.Used >= p.At(cidrWarnAt) {
			s = checks.Warning
		}
		p.Judge(t, s, "%s of the pod addresses in %s are given to nodes", checks.Percent(worst.Used), worst.Range).
			Saw(controllers.Tallies, worst.Range, checks.Percent(worst.Used), checks.Percent(p.At(cidrWarnAt)), expertLimit).Number("used", worst.Used)
	}
}
