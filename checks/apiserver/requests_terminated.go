package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed requests_terminated.md
var requestsTerminatedDoc string

// RequestsTerminated looks for instances that cut requests short to protect
// themselves.
var RequestsTerminated = &checks.Check{
	ID:        "apiserver-requests-terminated",
	Component: collectors.APIServer,
	Title:     "API servers let requests finish",
	Doc:       requestsTerminatedDoc,
	Needs:     []collectors.Any{apiserver.Terminations, apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "if by 429, see which requests wait and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "if by 504, find the slow step in the log", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'Timeout or abort|Trace\\['", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{terminatedWarnAt, timedOutWarnAt},
	Run:        requestsTerminated,
}

const (
	// Of all requests and those cut short added up, though the former include
	// the latter. Source: kubernetes-mixin, KubeAPITerminatedRequests (20%, for
	// 5 min).
	terminatedWarn   = 0.20
	terminatedSource = "kubernetes-mixin KubeAPITerminatedRequests"
	// Requests that ran into their time limit. No public source: it ends at
	// warning.
	timedOutWarn   = 0.05
	timedOutSource = "expert heuristic"
)

var (
	terminatedWarnAt = checks.NewThreshold("warn", checks.InRatio, terminatedWarn, "of all requests that are cut off", terminatedSource)
	timedOutWarnAt   = checks.NewThreshold("timed-out", checks.InRatio, timedOutWarn, "of all requests that time out", terminatedSource)
)

func requestsTerminated(p *checks.Pass) {
	for t, tr := range checks.Each(p, apiserver.Terminations) {
		all, gap := checks.Of(p, apiserver.Requests, t)
		if gap != nil {
			p.Unknown(t, gap)
			continue
		}
		any := func(apiserver.Row) bool { return true }
		n, _ := count(all, any)
		k, _ := count(tr, any)
		late, _ := count(tr, func(r apiserver.Row) bool { return r.Code == "504" })
		if n+k == 0 {
			p.Nothing(t, "no request in the window")
			continue
		}
		status, limit, source := checks.OK, p.At(terminatedWarnAt), terminatedSource
		switch {
		case metrics.Exceeds(n+k, k, p.At(terminatedWarnAt)):
			status = checks.Warning
		case metrics.Exceeds(n+k, late, p.At(timedOutWarnAt)):
			status, limit, source = checks.Warning, p.At(timedOutWarnAt), timedOutSource
		}
		top, errors := most(tr, any)
		v := p.Judge(t, status, "%s cut short %s%s", shareOf(k, max(n, k), "request"), over(tr.Elapsed, tr.Uptime), mostly(top, errors)).
			Saw(apiserver.Terminations, "cut short/(all+cut short)", checks.Percent(k/(n+k)), checks.Percent(limit), source).
			Saw(apiserver.Terminations, "504/(all+cut short)", checks.Percent(late/(n+k)), checks.Percent(p.At(timedOutWarnAt)), timedOutSource).
			Number("ratio", k/(n+k)).Number("timed out", late/(n+k))
		if status == checks.OK && (k > 0 && !metrics.Excludes(n+k, k, p.At(terminatedWarnAt)) || late > 0 && !metrics.Excludes(n+k, late, p.At(timedOutWarnAt))) {
			v.TooFew()
		}
	}
}
