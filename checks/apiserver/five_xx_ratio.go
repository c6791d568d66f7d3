package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed five_xx_ratio.md
var fiveXXRatioDoc string

// FiveXXRatio looks for instances that answer requests with server errors.
var FiveXXRatio = &checks.Check{
	ID:        "apiserver-5xx-ratio",
	Component: collectors.APIServer,
	Title:     "API servers answer requests without server errors",
	Doc:       fiveXXRatioDoc,
	Needs:     []collectors.Any{apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see the error's text in the API server's log", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'resp=5|failed calling webhook|etcdserver|rpc error'", Risk: checks.ReadOnly},
		{Title: "count by resource, verb and code", Command: "kubectl get --raw /metrics | grep '^apiserver_request_total' | grep 'code=\"5'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{errorsWarnAt, errorsCriticalAt},
	Run:        fiveXXRatio,
}

const (
	// Source: kubernetes-mixin, KubeClientErrors (1%).
	errorsWarn       = 0.01
	errorsWarnSource = "kubernetes-mixin KubeClientErrors"
	// A ratio by which a monthly error budget of 1% is gone in two days.
	// Source: kubernetes-mixin, KubeAPIErrorBudgetBurn (14.4 × 1%).
	errorsCritical       = 0.144
	errorsCriticalSource = "kubernetes-mixin KubeAPIErrorBudgetBurn"
	// An operation of which most requests fail is broken, however small its
	// part of all is.
	operationBroken = 0.5
)

var (
	errorsWarnAt     = checks.NewThreshold("warn", checks.InRatio, errorsWarn, "of all requests that are answered 5xx", errorsWarnSource)
	errorsCriticalAt = checks.NewThreshold("critical", checks.InRatio, errorsCritical, "of all requests that are answered 5xx", errorsCriticalSource)
)

func fiveXXRatio(p *checks.Pass) {
	for t, tr := range checks.Each(p, apiserver.Requests) {
		n, basis := count(tr, apiserver.Row.Ordinary)
		k, _ := count(tr, func(r apiserver.Row) bool { return r.Ordinary() && r.Failed() })
		if n == 0 {
			p.Nothing(t, "no request in the window")
			continue
		}
		status, limit, source := checks.OK, p.At(errorsWarnAt), errorsWarnSource
		switch {
		case metrics.Exceeds(n, k, p.At(errorsCriticalAt)):
			status, limit, source = checks.Critical, p.At(errorsCriticalAt), errorsCriticalSource
			if basis == checks.OverLifetime {
				status = checks.Warning // that may be long over
			}
		case metrics.Exceeds(n, k, p.At(errorsWarnAt)):
			status = checks.Warning
		}
		span := over(tr.Elapsed, tr.Uptime)
		top, errors := most(tr, apiserver.Row.Failed)
		if broken, of := brokenOperation(tr); status == checks.OK && broken.Code != "" {
			p.Warn(t, "%.0f of %.0f %s answered %s %s; %s of all requests answered 5xx", broken.Window, of, broken.Operation, broken.Code, span, checks.Percent(k/n)).
				Saw(apiserver.Requests, broken.Operation.String(), checks.Percent(broken.Window/of), checks.Percent(operationBroken), "").
				Number("ratio", k/n).Mark("code="+broken.Code, "resource="+broken.Resource, "verb="+broken.Verb)
			continue
		}
		v := p.Judge(t, status, "%s answered 5xx %s%s", shareOf(k, n, "request"), span, mostly(top, errors)).
			Saw(apiserver.Requests, "5xx", checks.Percent(k/n), checks.Percent(limit), source).Number("ratio", k/n).Number("errors", k)
		if status != checks.OK {
			v.Mark("code="+top.Code, "resource="+top.Resource, "verb="+top.Verb)
		} else if k > 0 && !metrics.Excludes(n, k, p.At(errorsWarnAt)) {
			v.TooFew()
		}
		if passed, _ := count(tr, func(r apiserver.Row) bool { return !r.Ordinary() && !r.Health() && r.Failed() }); passed > 0 {
			v.Saw(apiserver.Requests, "5xx of long-running and aggregated requests, not judged", fmt.Sprintf("%.0f", passed), "", "")
		}
	}
}

// brokenOperation returns the operation of which more than half of the requests
// fail with one code, in the window, and how many requests it had.
func brokenOperation(tr apiserver.Traffic) (worst apiserver.Row, of float64) {
	if tr.Elapsed == 0 {
		return worst, 0
	}
	all := map[apiserver.Operation]float64{}
	for _, r := range tr.Rows {
		all[r.Operation] += r.Window
	}
	for _, r := range tr.Rows {
		n := all[r.Operation]
		if r.Ordinary() && r.Failed() && metrics.Exceeds(n, r.Window, operationBroken) && larger(r, worst) {
			worst, of = r, n
		}
	}
	return worst, of
}
