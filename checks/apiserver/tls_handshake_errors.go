package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed tls_handshake_errors.md
var tlsHandshakeErrorsDoc string

// TLSHandshakeErrors looks for clients that connect and do not come past TLS.
var TLSHandshakeErrors = &checks.Check{
	ID:        "apiserver-tls-handshake-errors",
	Component: collectors.APIServer,
	Title:     "clients agree on TLS with the API server",
	Doc:       tlsHandshakeErrorsDoc,
	Needs:     []collectors.Any{apiserver.Accesses},
	Remedies: []checks.Remedy{
		{Title: "see from which addresses, and why", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep 'TLS handshake error' | sed 's/.*from \\([^:]*\\):[0-9]*:\\(.*\\)/\\1\\2/' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{handshakeRateAt},
	Run:        tlsHandshakeErrors,
}

const (
	// No public source: the check ends at warning.
	handshakeRate   = 1.0 // a second
	handshakeFew    = 10.0
	handshakeSource = "heuristic"
)

var handshakeRateAt = checks.NewThreshold("warn", checks.InRate, handshakeRate, "handshakes that fail", handshakeSource)

func tlsHandshakeErrors(p *checks.Pass) {
	for t, a := range checks.Each(p, apiserver.Accesses) {
		if a.Elapsed == 0 && a.Handshakes.Lifetime < handshakeFew {
			p.OK(t, "%s of TLS failed since it started", checks.Count(a.Handshakes.Lifetime, "handshake"))
			continue
		}
		if a.Elapsed == 0 {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "%.0f since it started; whether it goes on is not known: %s", a.Handshakes.Lifetime, a.Broken))
			continue
		}
		n := a.Handshakes.Window
		rate := n / a.Elapsed.Seconds()
		s := checks.OK
		if n >= handshakeFew && rate > p.At(handshakeRateAt) {
			s = checks.Warning
		}
		p.Judge(t, s, "%s of TLS failed in %s, %.0f since it started", checks.Count(n, "handshake"), checks.Span(a.Elapsed), a.Handshakes.Lifetime).
			Saw(apiserver.Accesses, "failed", fmt.Sprintf("%.1f/s", rate), fmt.Sprintf("%.0f/s", p.At(handshakeRateAt)), handshakeSource).Number("rate", rate)
	}
}
