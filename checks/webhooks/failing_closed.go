package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed failing_closed.md
var failingClosedDoc string

// FailingClosed looks for requests that are refused because a webhook cannot be
// called.
var FailingClosed = &checks.Check{
	ID:        "webhook-failing-closed",
	Component: collectors.Webhooks,
	Title:     "no request is refused because a webhook cannot be called",
	Doc:       failingClosedDoc,
	Needs:     append([]collectors.Any{apiserver.HookCalls, controllers.Refused}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see why the calls fail", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -i 'failed calling webhook'", Risk: checks.ReadOnly},
		{Title: "see which Service it calls, and what it takes in", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "if it cannot be mended now, keep a copy and take it away; its policy is then not applied", Command: "kubectl get {ns} {obj} -o yaml > {obj}.yaml && kubectl delete {ns} {obj}", Risk: checks.Disruptive, Recipe: "webhook-open"},
	},
	Run: failingClosed,
}

func failingClosed(p *checks.Pass) {
	calls := readCalls(p)
	for c := range each(p) {
		t := c.target()
		var status checks.Status
		var said, okay string
		var bad []hook
		closed := 0
		for _, h := range c {
			if !h.Closed {
				continue
			}
			closed++
			tr := calls.of(h)
			r, refused := refusedBy(p, h)
			if tr.Failed.Window == 0 && !refused {
				okay = fmt.Sprintf("no request was refused for want of it %s", calls.span())
				if before := tr.Failed.Lifetime; before > 0 {
					okay = fmt.Sprintf("none of %s was refused for want of it %s; %.0f before", checks.Count(tr.Calls.Window.Count, "call"), calls.span(), before)
				}
				continue
			}
			bad = append(bad, h)
			s, words := failing(h, calls, tr, r, refused)
			if s > status {
				status, said = s, c.name(h)+words
			}
		}
		switch {
		case len(bad) > 0:
			v := p.Judge(t, status, "%s", said)
			for _, h := range bad {
				saw(v, calls, h, p)
			}
		case closed == 0:
			p.Nothing(t, "refuses no request if it cannot be called (failurePolicy Ignore)")
		case calls.gap != nil:
			p.Unknown(t, calls.gap)
		default:
			p.OK(t, "%s", okay)
		}
	}
}

// failing judges a webhook for want of which requests are, or were last seen
// to be, refused.
func failing(h hook, calls calls, tr apiserver.HookTraffic, r controllers.Refusal, refused bool) (checks.Status, string) {
	s := checks.Warning
	if len(h.Vital()) > 0 {
		s = checks.Critical
	}
	var words string
	if n := tr.Failed.Window; n > 0 {
		words = fmt.Sprintf("%s refused for want of it %s", checks.Count(n, "request"), calls.span())
	}
	if !refused {
		return s, words
	}
	_, because := why(r.Message)
	if because != "" {
		because = " (" + because + ")"
	}
	pods := fmt.Sprintf("%s of %s not created for want of it%s, for up to %s", checks.Count(r.Missing, "pod"), checks.Count(r.Objects, "ReplicaSet"), because, checks.Span(r.Oldest))
	if words != "" {
		return s, words + "; " + pods
	}
	if tr.Calls.Window.Count > 0 { // it answers now: what is refused will be tried again
		return checks.Warning, fmt.Sprintf("%s; all of %s %s succeeded", pods, checks.Count(tr.Calls.Window.Count, "call"), calls.span())
	}
	return s, pods
}

// saw keeps the evidence of one webhook.
func saw(v *checks.Verdict, calls calls, h hook, p *checks.Pass) {
	tr := calls.of(h)
	v.Saw(apiserver.HookCalls, h.Name+" failed "+calls.span(), fmt.Sprintf("%.0f", tr.Failed.Window), "0", "").
		Saw(apiserver.HookCalls, h.Name+" failed before", fmt.Sprintf("%.0f", tr.Failed.Lifetime-tr.Failed.Window), "", "")
	if r, ok := refusedBy(p, h); ok {
		class, _ := why(r.Message)
		v.Saw(controllers.Refused, r.Example, r.Message, "", "").Mark("refuses=pods", "why="+class)
	}
	h.marks(v, h.Vital())
}
