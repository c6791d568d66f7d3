package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed fail_open.md
var failOpenDoc string

// FailOpen looks for requests that passed without a webhook that was to see
// them.
var FailOpen = &checks.Check{
	ID:        "webhook-fail-open",
	Component: collectors.Webhooks,
	Title:     "no request passes without a webhook that was to see it",
	Doc:       failOpenDoc,
	Needs:     append([]collectors.Any{apiserver.HookCalls}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see why the calls fail", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -i 'failing open'", Risk: checks.ReadOnly},
		{Title: "see which Service it calls, and what it takes in", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
	},
	Run: failOpen,
}

func failOpen(p *checks.Pass) {
	calls := readCalls(p)
	for c := range each(p) {
		t := c.target()
		var passed, before float64
		var names []string
		open := 0
		for _, h := range c {
			if h.Closed {
				continue
			}
			open++
			tr := calls.of(h)
			before += tr.Opened.Lifetime - tr.Opened.Window
			if tr.Opened.Window > 0 {
				passed += tr.Opened.Window
				names = append(names, h.Name)
			}
		}
		switch {
		case open == 0:
			p.Nothing(t, "refuses requests if it cannot be called (failurePolicy Fail)")
		case calls.gap != nil:
			p.Unknown(t, calls.gap)
		case calls.elapsed == 0 && before > 0:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%s passed without it since the API servers started; whether any does now is not known without a second look", checks.Count(before, "request")))
		case passed > 0:
			v := p.Warn(t, "%s passed without it in %s, since it could not be called (failurePolicy Ignore)", checks.Count(passed, "request"), checks.Span(calls.elapsed)).
				Saw(apiserver.HookCalls, "failed open", fmt.Sprintf("%.0f", passed), "0", "")
			for _, n := range names {
				v.Mark("webhook=" + n)
			}
		default:
			p.OK(t, "no request passed without it %s; %.0f before", calls.span(), before).
				Saw(apiserver.HookCalls, "failed open", "0", "0", "")
		}
	}
}
