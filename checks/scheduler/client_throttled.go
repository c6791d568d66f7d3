package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed client_throttled.md
var clientThrottledDoc string

// ClientThrottled looks for schedulers that hold themselves back.
var ClientThrottled = &checks.Check{
	ID:        "scheduler-client-throttled",
	Component: collectors.Scheduler,
	Title:     "no scheduler waits for its own rate limit",
	Doc:       clientThrottledDoc,
	Needs:     []collectors.Any{scheduler.Elected.Throttle, scheduler.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "on the node, raise clientConnection.qps and burst in its configuration (50 and 100 by default); the kubelet restarts it", Command: "vi /etc/kubernetes/manifests/kube-scheduler.yaml", Risk: checks.Disruptive},
	},
	Run: clientThrottled,
}

// throttleLimit is experience; no number is published.
var throttleLimit = checks.Limit{Seconds: 0.5, Share: 0.01, Status: checks.Warning, Source: errorsSource}

func clientThrottled(p *checks.Pass) {
	for t, l := range leases.EachRunning(p, scheduler.Elected, scheduler.Elected.Throttle) {
		v := checks.JudgeLatency(l, throttleLimit)
		if v.Status == checks.Unknown || v.Basis == checks.OverLifetime {
			p.Nothing(t, "sent no request in the window")
			continue
		}
		if v.Status.Bad() && v.Above < several {
			v.Status, v.TooFew = checks.OK, true
		}
		out := p.Judge(t, v.Status, "requests wait in its own rate limiter: %s", v).
			Saw(scheduler.Elected.Throttle, "p99", checks.Quantile(v.P99), checks.Seconds(throttleLimit.Seconds), throttleLimit.Source).
			Saw(scheduler.Elected.Throttle, "above the limit", fmt.Sprintf("%.0f of %.0f", v.Above, v.Count), checks.Percent(throttleLimit.Share), "").
			Number("p99", v.P99.Value)
		if v.TooFew {
			out.TooFew()
		}
	}
}
