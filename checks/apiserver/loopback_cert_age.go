package apiserver

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed loopback_cert_age.md
var loopbackCertAgeDoc string

// LoopbackCertAge looks for instances that have run nearly as long as the
// certificate by which they talk to themselves is valid.
var LoopbackCertAge = &checks.Check{
	ID:        "apiserver-loopback-cert-age",
	Component: collectors.APIServer,
	Title:     "no API server outlives its own loopback certificate",
	Doc:       loopbackCertAgeDoc,
	Needs:     []collectors.Any{apiserver.Processes},
	Remedies: []checks.Remedy{
		{Title: "on each node in turn, when the instance before it is ready again, restart the container", Command: "crictl stop $(crictl ps -q --name kube-apiserver)", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{loopbackWarnAt, loopbackCriticalAt},
	Run:        loopbackCertAge,
}

const (
	day = 24 * time.Hour
	// The certificate is made when the process starts. Source: k8s.io/apiserver,
	// pkg/server/options/serving_with_loopback.go: one year up to 1.32, three
	// years and a day (maxAge) from 1.33.
	loopbackShort = 365 * day
	loopbackLong  = (3*365 + 1) * day
	loopbackSince = 33
	// Five days are enough to restart some instances by day, a month to plan it.
	loopbackCritical = 5 * day
	loopbackWarn     = 35 * day
	loopbackSource   = "k8s.io/apiserver serving_with_loopback.go"
)

var (
	loopbackWarnAt     = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(loopbackWarn), "that the certificate is valid still", loopbackSource)
	loopbackCriticalAt = checks.NewThreshold("critical", checks.InSeconds, checks.Secs(loopbackCritical), "that the certificate is valid still", loopbackSource)
)

func loopbackCertAge(p *checks.Pass) {
	for t, x := range checks.Each(p, apiserver.Processes) {
		life := loopbackLong
		switch {
		case x.Minor == 0 && x.Uptime > loopbackShort-p.Span(loopbackWarnAt):
			p.Unknown(t, collectors.Gapf(collectors.Absent, "it runs for %s and does not tell its version, on which the life of its certificate depends", checks.Span(x.Uptime)))
			continue
		case x.Minor < loopbackSince: // or not known, and young by either measure
			life = loopbackShort
		}
		left := life - x.Uptime
		status, limit := checks.OK, p.Span(loopbackWarnAt)
		switch {
		case left <= 0:
			// It should have failed by now. That it has not shows that its life
			// is another: a backport to a patch release is not known here.
			p.Warn(t, "runs for %s, longer than its loopback certificate should be valid (%s)", checks.Span(x.Uptime), checks.Span(life)).
				Saw(apiserver.Processes, "uptime", checks.Span(x.Uptime), checks.Span(life), loopbackSource)
			continue
		case left < p.Span(loopbackCriticalAt):
			status, limit = checks.Critical, p.Span(loopbackCriticalAt)
		case left < p.Span(loopbackWarnAt):
			status = checks.Warning
		}
		p.Judge(t, status, "runs for %s; its loopback certificate has %s left", checks.Span(x.Uptime), checks.Span(left)).
			Saw(apiserver.Processes, "left", checks.Span(left), checks.Span(limit), loopbackSource).Number("left", left.Seconds())
	}
}
