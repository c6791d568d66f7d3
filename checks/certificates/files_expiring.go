package certificates

import (
	_ "embed"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed files_expiring.md
var filesExpiringDoc string

// FilesExpiring looks for certificates in this node's files that end soon.
var FilesExpiring = &checks.Check{
	ID:        "cert-files-expiring",
	Component: collectors.Certificates,
	Title:     "the certificates in this node's files last",
	Doc:       filesExpiringDoc,
	Needs:     []collectors.Any{inventory.Files},
	Remedies: []checks.Remedy{
		{Title: "see all of kubeadm's at once", Command: "kubeadm certs check-expiration", Risk: checks.ReadOnly},
		{Title: "renew them, then restart the static pods one after the other, since they read their certificates at the start", Command: "kubeadm certs renew all", Risk: checks.Safe},
	},
	Run: filesExpiring,
}

// filesCritical is a day, as of what is served: RULES' own 7 days have no public
// source, and what kubeadm made for a year is renewed by an upgrade.
const filesCritical = day

func filesExpiring(p *checks.Pass) {
	here := collectors.Target{Component: collectors.Certificates, Name: "files"}
	d, gap := checks.One(p, inventory.Files)
	switch {
	case gap != nil:
		p.Unknown(here, gap)
		return
	case len(d.Files)+len(d.Unread) == 0:
		p.Nothing(here, "there are none where ktriage runs: this is no control-plane node")
		return
	case len(d.Unread) > 0:
		p.Unknown(here, collectors.Gapf(collectors.Forbidden, "%s", checks.List(d.Unread, 2)).With("run ktriage as root"))
	}
	for _, f := range d.Files {
		if strings.HasSuffix(f.Path, "ca.crt") {
			continue // ca-expiring has other limits
		}
		left := f.Cert.NotAfter.Sub(p.Now())
		s, urgent := checks.OK, filesCritical
		limit, _, source := limits(f.Cert)
		if renewed(f.Cert) {
			urgent = min(urgent, part(f.Cert, shortCritical))
		}
		switch {
		case left < urgent:
			s = checks.Critical
		case left < limit:
			s = checks.Warning
		}
		if strings.HasSuffix(f.Path, "admin.conf") || strings.Contains(f.Path, "healthcheck-client") {
			s = min(s, checks.Warning) // people use it, the control plane does not
		}
		words := "expires in %s, on %s"
		if left < 0 {
			words = "expired %s ago, on %s"
		}
		v := p.Judge(collectors.Target{Component: collectors.Certificates, Name: strings.TrimPrefix(f.Path, "/")}, s, words, checks.Span(left), f.Cert.NotAfter.UTC().Format(time.DateOnly)).
			Saw(inventory.Files, "notAfter", f.Cert.NotAfter.UTC().Format(time.RFC3339), checks.Span(limit), source).
			Saw(inventory.Files, "subject", f.Cert.Subject, "", "")
		if left < 0 {
			v.Mark("expired")
		}
	}
}
