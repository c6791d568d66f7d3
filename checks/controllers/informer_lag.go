package controllers

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed informer_lag.md
var informerLagDoc string

// InformerLag looks for changes that the controllers have been told of and have
// not taken in.
var InformerLag = &checks.Check{
	ID:        "kcm-informer-lag",
	Component: collectors.Controllers,
	Title:     "the controllers take in changes as fast as they are told of them",
	Doc:       informerLagDoc,
	Needs:     []collectors.Any{controllers.Tallies, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "on the node, see whether it has the processor time that it needs", Command: "crictl stats $(crictl ps -q --name kube-controller-manager)", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{queuedWarnAt},
	Run:        informerLag,
}

// queuedWarn changes at both looks are a backlog. It is experience.
const queuedWarn = 1000

var queuedWarnAt = checks.NewThreshold("warn", checks.InNumber, queuedWarn, "events that wait to be handled", expertLimit)

func informerLag(p *checks.Pass) {
	for t, x := range leases.EachLeader(p, controllers.Elected, controllers.Tallies) {
		if len(x.Informers) == 0 {
			p.Nothing(t, "this version does not count it")
			continue
		}
		i := x.Informers[0]
		switch {
		case i.Queued > p.At(queuedWarnAt) && x.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%.0f changes of %s wait, and whether they did before is not known: %s", i.Queued, i.Resource, x.Broken))
		case i.Queued > p.At(queuedWarnAt) && i.Before > p.At(queuedWarnAt):
			p.Warn(t, "%.0f changes of %s wait to be taken in, and %.0f did %s before", i.Queued, i.Resource, i.Before, checks.Span(x.Elapsed)).
				Saw(controllers.Tallies, "queued of "+i.Resource, fmt.Sprint(i.Queued), fmt.Sprint(p.At(queuedWarnAt)), expertLimit).Number("queued", i.Queued)
		default:
			p.OK(t, "at most %.0f changes wait to be taken in, of %s", i.Queued, i.Resource).
				Saw(controllers.Tallies, "queued of "+i.Resource, fmt.Sprint(i.Queued), fmt.Sprint(p.At(queuedWarnAt)), expertLimit)
		}
	}
}
