package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed error_budget_burn.md
var errorBudgetBurnDoc string

// ErrorBudgetBurn looks at failed and slow requests together, as the objective of
// 99% counts them.
var ErrorBudgetBurn = &checks.Check{
	ID:        "apiserver-error-budget-burn",
	Component: collectors.APIServer,
	Title:     "API servers fail or delay fewer than 1 of 100 requests",
	Doc:       errorBudgetBurnDoc,
	Needs:     []collectors.Any{apiserver.Latency, apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see which requests fail, and which are slow", Command: "kubectl get --raw /metrics | grep -E '^apiserver_request_total.*code=\"5' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{burnWarnAt, burnFastAt},
	Run:        errorBudgetBurn,
}

const (
	// The objective is 99%. An error budget of 30 days is spent in a tenth of
	// that, and in two days, at these rates; kubernetes-mixin asks for them over
	// hours, so that in one window they are a warning and no more.
	burnWarn     = 0.03
	burnFast     = 0.144
	budgetSource = "kubernetes-mixin KubeAPIErrorBudgetBurn: 3 and 14.4 times 1%"
	// The latencies that the objective gives a request.
	burnSingle = 1.0
	burnMany   = 30.0
)

var (
	burnWarnAt = checks.NewThreshold("warn", checks.InRatio, burnWarn, "of all requests that fail or are slow", budgetSource)
	burnFastAt = checks.NewThreshold("fast", checks.InRatio, burnFast, "of all requests that fail or are slow", budgetSource)
)

func errorBudgetBurn(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.Latency) {
		traffic, gap := checks.Of(p, apiserver.Requests, t)
		if gap != nil {
			p.Unknown(t, gap)
			continue
		}
		counted := func(r apiserver.Row) bool { return r.Ordinary() && r.InSLO() && (r.Read() || r.Write()) }
		total, basis := count(traffic, counted)
		failed, _ := count(traffic, func(r apiserver.Row) bool { return counted(r) && r.Failed() })
		slow := late(l.Writes.All, burnSingle) + late(l.Single.All, burnSingle) + late(l.Many.All, burnMany)
		if total == 0 {
			p.Nothing(t, "no request that the objective is about in the window")
			continue
		}
		bad := min(total, failed+slow)
		when := "in " + checks.Span(traffic.Elapsed)
		if basis == checks.OverLifetime {
			when = "since it started"
		}
		s, limit := checks.OK, p.At(burnWarnAt)
		switch {
		case metrics.Exceeds(total, bad, p.At(burnFastAt)):
			s, limit = checks.Warning, p.At(burnFastAt)
		case metrics.Exceeds(total, bad, p.At(burnWarnAt)):
			s = checks.Warning
		}
		words := fmt.Sprintf("%.0f failed and %.0f slow of %s %s", failed, slow, checks.Count(total, "request"), when)
		if s != checks.OK {
			words += fmt.Sprintf(": %.1f times what an objective of 99%% allows", bad/total/0.01)
		}
		v := p.Judge(t, s, "%s", words).
			Saw(apiserver.Requests, "failed or slow", fmt.Sprintf("%.0f of %.0f", bad, total), checks.Percent(limit), budgetSource).
			Number("burn", bad/total/0.01).Number("failed", failed).Number("slow", slow)
		if s == checks.OK && bad > 0 && !metrics.Excludes(total, bad, p.At(burnWarnAt)) {
			v.TooFew()
		}
	}
}

// late counts the requests above a limit, in the window or, without one, over
// the lifetime.
func late(l metrics.Latency, limit float64) float64 {
	h := l.Window
	if l.Elapsed == 0 {
		h = l.Lifetime
	}
	if h.Count == 0 {
		return 0
	}
	n, _ := h.Above(limit)
	return n
}
