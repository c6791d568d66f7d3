package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed webhook_latency_gap.md
var webhookLatencyGapDoc string

// WebhookLatencyGap looks for writes that wait for webhooks or for a seat,
// which the latency SLI leaves out.
var WebhookLatencyGap = &checks.Check{
	ID:        "apiserver-webhook-latency-gap",
	Component: collectors.APIServer,
	Title:     "writes do not wait for webhooks or for a seat",
	Doc:       webhookLatencyGapDoc,
	Needs:     []collectors.Any{apiserver.WriteWait},
	Remedies: []checks.Remedy{
		{Title: "see how long each webhook takes", Command: "kubectl get --raw /metrics | grep -E '^apiserver_admission_webhook_admission_duration_seconds_(sum|count)'", Risk: checks.ReadOnly},
		{Title: "see what the webhooks take in, and their timeouts", Command: "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{gapWarnAt},
	Run:        webhookLatencyGap,
}

const (
	// No public source: the check ends at warning.
	gapWarn   = 0.5 // seconds
	gapShare  = 0.01
	gapSource = "expert heuristic"
)

var gapWarnAt = checks.NewThreshold("warn", checks.InSeconds, gapWarn, "that webhooks and queues add to the p99 of writes", gapSource)

func webhookLatencyGap(p *checks.Pass) {
	for t, w := range checks.Each(p, apiserver.WriteWait) {
		whole, without, note := w.Whole.Window, w.Without.Window, ""
		if w.Whole.Elapsed == 0 {
			whole, without, note = w.Whole.Lifetime, w.Without.Lifetime, ", since the process started"
		}
		slow, ok := whole.Quantile(0.99)
		quick, ok2 := without.Quantile(0.99)
		if !ok || !ok2 {
			p.Nothing(t, "no write request in the window")
			continue
		}
		// The p99s are estimates between the edges of buckets. What is certain is
		// how many writes the wait has pushed over an edge.
		above, edge := whole.Above(quick.Value + p.At(gapWarnAt))
		before, _ := without.Above(edge)
		pushed := max(0, above-before)
		wait := max(0, whole.Sum-without.Sum) / whole.Count
		if wait < 1e-6 { // what adding up many numbers leaves
			wait = 0
		}
		status := checks.OK
		if slow.Value-quick.Value > p.At(gapWarnAt) && metrics.Exceeds(whole.Count, pushed, gapShare) {
			status = checks.Warning
		}
		v := p.Judge(t, status, "writes: p99 %s, without webhooks and queueing %s; the wait is %s on average of %.0f%s",
			checks.Quantile(slow), checks.Quantile(quick), checks.Seconds(wait), whole.Count, note).
			Saw(apiserver.WriteWait, "gap of the p99s", checks.Seconds(slow.Value-quick.Value), checks.Seconds(p.At(gapWarnAt)), gapSource).
			Saw(apiserver.WriteWait, "pushed over "+checks.Seconds(edge), fmt.Sprintf("%.0f of %.0f", pushed, whole.Count), checks.Percent(gapShare), gapSource).
			Number("gap", slow.Value-quick.Value).Number("wait", wait)
		if status == checks.OK && pushed > 0 && !metrics.Excludes(whole.Count, pushed, gapShare) {
			v.TooFew()
		}
	}
}
