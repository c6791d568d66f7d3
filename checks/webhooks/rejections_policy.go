package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed rejections_policy.md
var rejectionsPolicyDoc string

// RejectionsPolicy tells how much webhooks refuse by their own policy.
var RejectionsPolicy = &checks.Check{
	ID:        "webhook-rejections-policy",
	Component: collectors.Webhooks,
	Title:     "webhooks refuse little",
	Doc:       rejectionsPolicyDoc,
	Needs:     append([]collectors.Any{apiserver.HookCalls}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see who is refused, and why", Command: "kubectl get events -A --field-selector type=Warning | grep -i denied", Risk: checks.ReadOnly},
	},
	Run: rejectionsPolicy,
}

func rejectionsPolicy(p *checks.Pass) {
	calls := readCalls(p)
	for c := range each(p) {
		var denied, all float64
		for _, h := range c {
			tr := calls.of(h)
			denied += tr.Denied.Window
			all += tr.Calls.Window.Count
		}
		of := checks.Count(denied, "request")
		if all >= denied {
			of = fmt.Sprintf("%.0f of %s", denied, checks.Count(all, "request"))
		}
		switch {
		case calls.gap != nil:
			p.Unknown(c.target(), calls.gap)
		case calls.elapsed == 0:
			p.Unknown(c.target(), collectors.Gapf(collectors.Absent, "how much it refuses now is not known without a second look"))
		case denied > 0:
			p.Info(c.target(), "it refused %s %s: that is its task, and who is refused may not know it", of, calls.span()).
				Saw(apiserver.HookCalls, "denied", fmt.Sprintf("%.0f", denied), "", "")
		default:
			p.OK(c.target(), "it refused %s %s", of, calls.span()).
				Saw(apiserver.HookCalls, "denied", "0", "", "")
		}
	}
}
