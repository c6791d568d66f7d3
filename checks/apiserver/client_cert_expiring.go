package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed client_cert_expiring.md
var clientCertExpiringDoc string

// ClientCertExpiring looks for clients whose certificate is about to expire, or
// has.
var ClientCertExpiring = &checks.Check{
	ID:        "client-cert-expiring",
	Component: collectors.APIServer,
	Title:     "clients' certificates are valid for more than a week",
	Doc:       clientCertExpiringDoc,
	Needs:     []collectors.Any{apiserver.ClientCertificates},
	Remedies: []checks.Remedy{
		{Title: "on a control-plane node, see which certificates of the cluster's own expire", Command: "kubeadm certs check-expiration", Risk: checks.ReadOnly},
		{Title: "on nodes, see the kubelet's", Command: "openssl x509 -enddate -subject -noout -in /var/lib/kubelet/pki/kubelet-client-current.pem", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{certShareAt},
	Run:        clientCertExpiring,
}

const (
	// Source: kubernetes-mixin, KubeClientCertificateExpiration: p1 below 7
	// days, and below 1 day. The second is critical there; here it is not,
	// because the metric does not tell whose certificate it is, and some are
	// made to live for hours.
	certWeek   = 7 * 24 * 3600.0
	certDay    = 24 * 3600.0
	certShare  = 0.01
	certSource = "kubernetes-mixin KubeClientCertificateExpiration"
)

var certShareAt = checks.NewThreshold("share", checks.InRatio, certShare, "of the requests with a client certificate", certSource)

func clientCertExpiring(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.ClientCertificates) {
		h, window := l.Window, true
		if l.Elapsed == 0 {
			h, window = l.Lifetime, false
		}
		if h.Count == 0 {
			p.Nothing(t, "no client came with a certificate %s", over(l.Elapsed, l.Uptime))
			continue
		}
		expired, soon, week := below(h, 0), below(h, certDay), below(h, certWeek)
		span := over(l.Elapsed, l.Uptime)
		// Before the window, old certificates count that were renewed since.
		status := func(k float64) checks.Status {
			switch {
			case !metrics.Exceeds(h.Count, k, p.At(certShareAt)):
				return checks.OK
			case !window:
				return checks.Info
			}
			return checks.Warning
		}
		worst, n, when := checks.OK, week, "expires within a week"
		for _, x := range []struct {
			n    float64
			when string
		}{{week, "expires within a week"}, {soon, "expires within a day"}, {expired, "has expired"}} {
			if s := status(x.n); s != checks.OK && s >= worst {
				worst, n, when = s, x.n, x.when
			}
		}
		if worst == checks.OK && expired > 0 { // a few may be a forgotten client
			worst, n, when = checks.Info, expired, "has expired"
		}
		v := p.Judge(t, worst, "%.0f of %.0f requests with a client certificate %s came with one that %s", n, h.Count, span, when)
		if expired > 0 {
			v.Mark("expired")
		}
		v.Saw(apiserver.ClientCertificates, "within 7 days", checks.Percent(week/h.Count), checks.Percent(p.At(certShareAt)), certSource).
			Saw(apiserver.ClientCertificates, "within 1 day", checks.Percent(soon/h.Count), checks.Percent(p.At(certShareAt)), certSource).
			Saw(apiserver.ClientCertificates, "expired", fmt.Sprintf("%.0f", expired), "0", certSource).
			Number("week", week/h.Count).Number("day", soon/h.Count).Number("expired", expired)
	}
}

// below counts the observations of at most a limit that is a bucket's edge.
func below(h metrics.Histogram, limit float64) float64 {
	n, edge := h.Above(limit)
	if edge > limit*(1+1e-9) {
		return 0 // the histogram does not have the edge
	}
	return h.Count - n
}
