package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed backend_missing.md
var backendMissingDoc string

// BackendMissing looks for admission webhooks behind whose Service nobody is.
var BackendMissing = &checks.Check{
	ID:        "webhook-backend-missing",
	Component: collectors.Webhooks,
	Title:     "somebody answers behind every admission webhook's Service",
	Doc:       backendMissingDoc,
	Needs:     append([]collectors.Any{webhooks.Backends}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see which Service it calls, and what it takes in", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "keep a copy, for putting it back", Command: "kubectl get {ns} {obj} -o yaml > {obj}.yaml", Risk: checks.ReadOnly},
		{Title: "if its backend cannot be brought back now, take it away; its policy is then not applied", Command: "kubectl delete {ns} {obj}", Risk: checks.Disruptive, Recipe: "webhook-open"},
	},
	Run: backendMissing,
}

func backendMissing(p *checks.Pass) {
	backends, gap := checks.One(p, webhooks.Backends)
	for c := range each(p) {
		t := c.target()
		if gap != nil {
			p.Unknown(t, gap)
			continue
		}
		var worst impact
		var bad []hook
		var said, last string
		for _, h := range c {
			if h.Service.Name == "" {
				continue
			}
			b := backends[h.Service.ID()]
			trouble := b.Trouble(h.Service)
			if trouble == "" {
				last = fmt.Sprintf("Service %s has %s", h.Service.ID(), checks.Count(b.Ready, "ready endpoint"))
				if b.External != "" {
					last = fmt.Sprintf("Service %s stands for %s, which is not looked at", h.Service.ID(), b.External)
				}
				continue
			}
			bad = append(bad, h)
			if i := h.impact(); i.status > worst.status {
				worst, said = i, c.name(h)+trouble+": "+i.words
			}
		}
		switch {
		case len(bad) > 0:
			v := p.Judge(t, worst.status, "%s", said)
			for _, h := range bad {
				v.Saw(webhooks.Backends, h.Service.ID(), backends[h.Service.ID()].Trouble(h.Service), "a ready endpoint", "").
					Saw(webhooks.Configured, h.Name+" failurePolicy", h.failurePolicy(), "", "")
				h.marks(v, h.impact().takes)
			}
		case last == "":
			p.Nothing(t, "is called by URL at %s, behind which the cluster cannot tell who is", c[0].Host)
		default:
			p.OK(t, "%s", last)
		}
	}
}
