package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed auth_failures.md
var authFailuresDoc string

// AuthFailures looks for clients whose credentials are not accepted.
var AuthFailures = &checks.Check{
	ID:        "apiserver-auth-failures",
	Component: collectors.APIServer,
	Title:     "clients' credentials are accepted",
	Doc:       authFailuresDoc,
	Needs:     []collectors.Any{apiserver.Accesses},
	Remedies: []checks.Remedy{
		{Title: "read whose, and why", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'Unable to authenticate the request' | tail -20", Risk: checks.ReadOnly},
		{Title: "compare the keys by which instances accept service accounts", Command: "grep -E 'service-account-(key-file|issuer|signing)' /etc/kubernetes/manifests/kube-apiserver.yaml; sha256sum /etc/kubernetes/pki/sa.pub", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{refusedShareAt},
	Run:        authFailures,
}

const (
	// No public source: the check ends at warning.
	refusedShare  = 0.01
	refusedFew    = 10.0
	refusedSource = "heuristic"
)

var refusedShareAt = checks.NewThreshold("warn", checks.InRatio, refusedShare, "of the credentials that are not accepted", refusedSource)

func authFailures(p *checks.Pass) {
	for t, a := range checks.Each(p, apiserver.Accesses) {
		n, k, when := a.Attempts.Window, a.Refused.Window, "in "+checks.Span(a.Elapsed)
		if a.Elapsed == 0 {
			n, k, when = a.Attempts.Lifetime, a.Refused.Lifetime, "since it started"
		}
		if n == 0 {
			p.Nothing(t, "nobody came %s", when)
			continue
		}
		s := checks.OK
		if k >= refusedFew && metrics.Exceeds(n, k, p.At(refusedShareAt)) {
			s = checks.Warning
			if a.Elapsed == 0 { // it may be long over
				s = checks.Info
			}
		}
		v := p.Judge(t, s, "credentials were not accepted in %s %s", shareOf(k, n, "attempt"), when).
			Saw(apiserver.Accesses, "not accepted", percent(k/n), percent(p.At(refusedShareAt)), refusedSource).Number("share", k/n)
		if s == checks.OK && k > 0 && a.Elapsed > 0 && !metrics.Excludes(n, k, p.At(refusedShareAt)) {
			v.TooFew()
		}
	}
}
