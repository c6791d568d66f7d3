package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed throttled.md
var throttledDoc string

// Throttled looks for clients that are told to come back later.
var Throttled = &checks.Check{
	ID:        "apiserver-429",
	Component: collectors.APIServer,
	Title:     "API servers turn no client away",
	Doc:       throttledDoc,
	Needs:     []collectors.Any{apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see by which flow schema, if by any", Command: "kubectl get --raw /metrics | grep ^apiserver_flowcontrol_rejected_requests_total", Risk: checks.ReadOnly},
		{Title: "see whether a watch cache is being filled", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'reinitializing|storage is'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{throttledWarnAt},
	Run:        throttled,
}

const (
	// Any 429 is worth knowing; a share like that of errors is worth a warning.
	// RULES.md has critical above 10%, of which there is no public source.
	throttledWarn   = errorsWarn
	throttledSource = errorsWarnSource
)

var throttledWarnAt = checks.NewThreshold("warn", checks.InRatio, throttledWarn, "of all requests that are answered 429", throttledSource)

func throttled(p *checks.Pass) {
	for t, tr := range checks.Each(p, apiserver.Requests) {
		judged := func(r apiserver.Row) bool { return !r.Health() && !r.Aggregated() }
		n, basis := count(tr, judged)
		k, _ := count(tr, func(r apiserver.Row) bool { return judged(r) && r.Throttled() })
		if n == 0 {
			p.Nothing(t, "no request in the window")
			continue
		}
		status := checks.OK
		switch {
		case metrics.Exceeds(n, k, p.At(throttledWarnAt)):
			status = checks.Warning
		case k > 0 && basis == checks.OverWindow:
			status = checks.Info
		}
		top, errors := most(tr, apiserver.Row.Throttled)
		v := p.Judge(t, status, "%s answered 429 %s%s", shareOf(k, n, "request"), over(tr.Elapsed, tr.Uptime), mostly(top, errors)).
			Saw(apiserver.Requests, "429", checks.Percent(k/n), checks.Percent(p.At(throttledWarnAt)), throttledSource).
			Number("ratio", k/n).Number("throttled", k)
		if status != checks.OK {
			v.Mark("resource="+top.Resource, "verb="+top.Verb)
		}
		if status == checks.Info && !metrics.Excludes(n, k, p.At(throttledWarnAt)) {
			v.TooFew()
		}
	}
}
