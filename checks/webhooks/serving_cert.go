package webhooks

import (
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed serving_cert.md
var servingCertDoc string

// ServingCert looks at the certificates that webhooks really show.
var ServingCert = &checks.Check{
	ID:        "webhook-serving-cert",
	Component: collectors.Webhooks,
	Title:     "every webhook shows a certificate that its caBundle vouches for",
	Doc:       servingCertDoc,
	Needs:     append([]collectors.Any{webhooks.Shown, webhooks.Conversions, webhooks.Backends}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see what it shows: forward a port to a pod behind its Service", Command: "kubectl -n NAMESPACE port-forward service/NAME 8443:443 & sleep 2; openssl s_client -connect 127.0.0.1:8443 -servername NAME.NAMESPACE.svc </dev/null | openssl x509 -noout -subject -issuer -dates -ext subjectAltName", Risk: checks.ReadOnly},
		{Title: "see which CA the API server expects of it", Command: "kubectl get {ns} {obj} -o yaml | grep -m1 caBundle: | awk '{print $2}' | base64 -d | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "see whether what renews both is at work: cert-manager, its CA injector, or the operator", Command: "kubectl get pods -A | grep -iE 'cainjector|cert-manager'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{servingSoonAt, servingLateAt},
	Run:        servingCert,
}

const (
	// servingSoon is RULES' own, and advice only: most operators renew by
	// themselves, many with a day to go. servingLate is what even those keep.
	servingSoon   = 7 * 24 * time.Hour
	servingLate   = 12 * time.Hour
	servingSource = "experience; no public source"
)

var (
	servingSoonAt = checks.NewThreshold("info", checks.InSeconds, checks.Secs(servingSoon), "that the certificate is valid still", servingSource)
	servingLateAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(servingLate), "that the certificate is valid still", servingSource)
)

func servingCert(p *checks.Pass) {
	backends, backendGap := checks.One(p, webhooks.Backends)
	for c := range each(p) {
		worst := checks.OutOfScope
		var said, nobody string
		var unseen *collectors.Gap
		inside := false
		var bad, refused []hook
		for _, h := range c {
			if h.Service.Name == "" {
				continue
			}
			inside = true
			if b, gap := backends[h.Service.ID()], backendGap; gap == nil && b.Trouble(h.Service) != "" {
				nobody = b.Trouble(h.Service)
				continue
			}
			chain, gap := checks.Of(p, webhooks.Shown, h.Service.Door())
			if gap != nil {
				unseen = gap
				continue
			}
			s, words, no := shown(p, p.Now(), chain, h.Caller, h.impact())
			if s.Bad() {
				bad = append(bad, h)
			}
			if no {
				refused = append(refused, h)
			}
			if s > worst {
				worst, said = s, c.name(h)+words
			}
		}
		switch {
		case !inside:
			p.Nothing(c.target(), "is called by URL at %s, which is not asked", c[0].Host)
		case unseen != nil && !worst.Bad():
			p.Unknown(c.target(), unseen)
		case worst == checks.OutOfScope:
			p.Nothing(c.target(), "nobody is there to show a certificate: %s", nobody)
		default:
			v := p.Judge(c.target(), worst, "%s", said)
			for _, h := range c {
				if chain, gap := checks.Of(p, webhooks.Shown, h.Service.Door()); gap == nil {
					sawChain(p, v, h.Name, chain)
				}
			}
			for _, h := range bad {
				h.marks(v, h.Vital())
			}
			for _, h := range refused {
				v.Mark("refused=" + h.Name)
			}
		}
	}
	converters(p, backends, backendGap)
}

// converters judges the conversion webhooks, by one of their definitions.
func converters(p *checks.Pass, backends map[string]webhooks.Backend, backendGap *collectors.Gap) {
	cs, gap := checks.One(p, webhooks.Conversions)
	if gap != nil {
		p.Unknown(collectors.Target{Component: collectors.Webhooks, Name: "customresourcedefinition"}, gap)
		return
	}
	for _, c := range cs.By {
		t := definition(c.CRDs[0])
		if c.Service.Name == "" {
			p.Nothing(t, "is converted by URL at %s, which is not asked", c.Host)
			continue
		}
		if trouble := backends[c.Service.ID()].Trouble(c.Service); backendGap == nil && trouble != "" {
			p.Nothing(t, "nobody is there to show a certificate: %s", trouble)
			continue
		}
		chain, gap := checks.Of(p, webhooks.Shown, c.Service.Door())
		if gap != nil {
			p.Unknown(t, gap)
			continue
		}
		of := checks.Count(c.Count, "CustomResourceDefinition")
		s, words, refused := shown(p, p.Now(), chain, c.Caller, impact{checks.Critical, "objects of " + of + " cannot be converted", nil})
		v := sawChain(p, p.Judge(t, s, "%s", words), c.Service.ID(), chain)
		if refused {
			v.Mark("refused=" + c.Service.ID())
		}
	}
}

func sawChain(p *checks.Pass, v *checks.Verdict, name string, chain certificates.Chain) *checks.Verdict {
	leaf := chain.Leaf()
	return v.Saw(webhooks.Shown, name+" subject", leaf.Subject, "", "").
		Saw(webhooks.Shown, name+" issuer", leaf.Issuer, "", "").
		Saw(webhooks.Shown, name+" notAfter", leaf.NotAfter.Format(time.RFC3339), checks.Span(p.Span(servingLateAt)), servingSource)
}

// shown judges what a server shows to who is to trust it, and tells whether the
// API server refuses it.
func shown(p *checks.Pass, now time.Time, chain certificates.Chain, c webhooks.Caller, i impact) (s checks.Status, words string, refused bool) {
	leaf := chain.Leaf()
	left := leaf.NotAfter.Sub(now)
	switch {
	case left < 0:
		return i.status, fmt.Sprintf("Service %s shows a certificate that expired %s ago: %s", c.Service.ID(), checks.Span(left), i.words), true
	case leaf.NotBefore.After(now):
		return i.status, fmt.Sprintf("Service %s shows a certificate that is valid only in %s: %s", c.Service.ID(), checks.Span(leaf.NotBefore.Sub(now)), i.words), true
	}
	if c.Bundle.Certs > 0 && !c.Bundle.Expired(now) { // what else is wrong with a bundle, webhook-cabundle-bad says
		if err := c.Bundle.Vouches(chain, c.Service.ServerName(), now); err != nil {
			return i.status, fmt.Sprintf("the API server cannot accept what Service %s shows, %s: %s", c.Service.ID(), whyNot(err, c.Service.ServerName()), i.words), true
		}
	}
	words = fmt.Sprintf("Service %s shows a certificate that its caBundle vouches for, and that is valid for %s", c.Service.ID(), checks.Span(left))
	if c.Bundle.Certs == 0 {
		words = fmt.Sprintf("Service %s shows a certificate that is valid for %s", c.Service.ID(), checks.Span(left))
	}
	switch {
	case left < p.Span(servingLateAt):
		return min(i.status, checks.Warning), words, false
	case left < p.Span(servingSoonAt):
		return checks.Info, words, false
	}
	return checks.OK, words, false
}

// whyNot puts into words why a chain is not trusted.
func whyNot(err error, name string) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return "a certificate that its caBundle does not vouch for"
	case errors.As(err, &host):
		return "a certificate that is not for " + name
	}
	return "a certificate that does not verify (" + err.Error() + ")"
}
