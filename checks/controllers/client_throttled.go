package controllers

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed client_throttled.md
var clientThrottledDoc string

// ClientThrottled looks for controller managers that hold themselves back.
var ClientThrottled = &checks.Check{
	ID:        "kcm-client-throttled",
	Component: collectors.Controllers,
	Title:     "no controller manager waits for its own rate limit",
	Doc:       clientThrottledDoc,
	Needs:     []collectors.Any{controllers.Elected.Throttle, controllers.Elected.Leads, controllers.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "see its limits", Command: "kubectl -n kube-system get pod kube-controller-manager-{node} -o jsonpath='{.spec.containers[0].command}'", Risk: checks.ReadOnly},
		{Title: "on the node, raise --kube-api-qps and --kube-api-burst (20 and 30 by default); the kubelet restarts it", Command: "vi /etc/kubernetes/manifests/kube-controller-manager.yaml", Risk: checks.Disruptive},
	},
	Run: clientThrottled,
}

// throttleLimit is experience; no number is published.
var throttleLimit = checks.Limit{Seconds: 1, Share: 0.01, Status: checks.Warning, Source: expertLimit}

func clientThrottled(p *checks.Pass) {
	for t, l := range leases.EachRunning(p, controllers.Elected, controllers.Elected.Throttle) {
		if lead, gap := checks.Of(p, controllers.Elected.Leads, t); gap == nil && lead.Leads && lead.Since > 0 && lead.Since < settling {
			p.Nothing(t, "has led for %s only; it looks at everything once", checks.Span(lead.Since))
			continue
		}
		v := checks.JudgeLatency(l, throttleLimit)
		if v.Status == checks.Unknown {
			p.Nothing(t, "sent no request in the window")
			continue
		}
		if v.Status.Bad() && v.Above < several {
			v.Status, v.TooFew = checks.OK, true
		}
		out := p.Judge(t, v.Status, "requests wait in its own rate limiter: %s", v).
			Saw(controllers.Elected.Throttle, "p99", checks.Quantile(v.P99), checks.Seconds(throttleLimit.Seconds), throttleLimit.Source).
			Saw(controllers.Elected.Throttle, "above the limit", fmt.Sprintf("%.0f of %.0f", v.Above, v.Count), checks.Percent(throttleLimit.Share), "").
			Number("p99", v.P99.Value)
		if v.TooFew {
			out.TooFew()
		}
	}
}
