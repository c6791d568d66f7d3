package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed internal_error.md
var internalErrorDoc string

// InternalError looks for webhooks whose answers the API server cannot use.
var InternalError = &checks.Check{
	ID:        "webhook-internal-error",
	Component: collectors.Webhooks,
	Title:     "webhooks' answers are of use to the API server",
	Doc:       internalErrorDoc,
	Needs:     append([]collectors.Any{apiserver.HookCalls}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see what was wrong with its answer", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -iE 'webhook|patch'", Risk: checks.ReadOnly},
		{Title: "see who it is and what it takes in", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
	},
	Run: internalError,
}

func internalError(p *checks.Pass) {
	calls := readCalls(p)
	for c := range each(p) {
		var now, before float64
		v := func(v *checks.Verdict) {
			for _, h := range c {
				tr := calls.of(h)
				v.Saw(apiserver.HookCalls, h.Name+" answers of no use", fmt.Sprintf("%.0f", tr.Internal.Window), "0", "")
			}
		}
		for _, h := range c {
			tr := calls.of(h)
			now += tr.Internal.Window
			before += tr.Internal.Lifetime - tr.Internal.Window
		}
		switch {
		case calls.gap != nil:
			p.Unknown(c.target(), calls.gap)
		case now > 0:
			v(p.Warn(c.target(), "%s refused %s because its answer was of no use", checks.Count(now, "request"), calls.span()))
		case calls.elapsed == 0 && before > 0:
			p.Unknown(c.target(), collectors.Gapf(collectors.Absent, "%s refused because its answer was of no use since the API servers started; whether any is now is not known without a second look", checks.Count(before, "request")))
		default:
			v(p.OK(c.target(), "no answer of it was of no use %s; %.0f before", calls.span(), before))
		}
	}
}
