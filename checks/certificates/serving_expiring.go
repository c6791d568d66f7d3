package certificates

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed serving_expiring.md
var servingExpiringDoc string

// ServingExpiring looks for API servers and etcd members whose certificate ends
// soon.
var ServingExpiring = &checks.Check{
	ID:        "cert-serving-expiring",
	Component: collectors.Certificates,
	Title:     "the servers of the control plane serve with certificates that last",
	Doc:       servingExpiringDoc,
	Needs:     []collectors.Any{apiserver.Certificate, etcd.Certificate, inventory.Servers, inventory.Served},
	Remedies: []checks.Remedy{
		{Title: "on the node, see what expires when", Command: "kubeadm certs check-expiration", Risk: checks.ReadOnly},
		{Title: "on the node, renew all; then restart the static pods one after the other, since they read their certificates at the start", Command: "kubeadm certs renew all", Risk: checks.Safe},
	},
	Run: servingExpiring,
}

const (
	// servingWarn and servingCritical are RULES' own, without a public source
	// (kubernetes-mixin has 7 and 1 days, for clients' certificates). What ends
	// takes the component down, so that hours are critical for certain, days a
	// warning.
	servingWarn     = 30 * day
	servingCritical = day
	servingSource   = "experience; kubernetes-mixin KubeClientCertificateExpiration has 7d and 1d"

	// short is how long certificates last at most that a program renews all the
	// time. What renews certificates in Kubernetes does so when 70 to 90% of
	// their time is over (client-go, util/certificate, jitteryDuration), so that
	// less than a tenth left was forgotten, be it of a month or of a day; and
	// less than half of that will not be made up for.
	short         = 45 * day
	shortWarn     = 0.10
	shortCritical = 0.05
	// shortLeast is what the shortest that a control plane is known to renew by
	// itself have left then: OpenShift's of 30 days, at 90%. Nobody is known to
	// renew less, so that a new certificate of two days needs a look, too.
	shortLeast  = 3 * day
	shortSource = "client-go certificate manager: renewed after 70 to 90% of the lifetime"

	day = 24 * time.Hour
)

func servingExpiring(p *checks.Pass) {
	judge(p, "apiserver", apiserver.Certificate)
	judge(p, "etcd", etcd.Certificate)
	rest(p)
}

// rest judges those that nothing else is asked of: kubelets, etcd among its
// members, and what else was given a certificate. What signed one itself is
// verified by nobody, so that its end ends nothing.
func rest(p *checks.Pass) {
	known, gap := checks.One(p, inventory.Servers)
	if gap != nil {
		p.Unknown(target("servers", collectors.Target{}), gap)
		return
	}
	for _, u := range known.Unseen {
		if u.Kind == inventory.APIServer || u.Kind == inventory.EtcdClient || u.Gap.Reason == collectors.Absent {
			continue // judge says so, or there is none
		}
		p.Unknown(inventory.Server{Kind: u.Kind}.Target(), u.Gap)
	}
	for _, x := range known.Servers {
		if x.Kind == inventory.APIServer || x.Kind == inventory.EtcdClient || !x.Named {
			continue
		}
		chain, gap := checks.Of(p, inventory.Served, x.Target())
		if gap != nil {
			p.Unknown(x.Target(), gap)
			continue
		}
		leaf := chain.Leaf()
		s := lasts(p, leaf)
		if x.Kind != inventory.EtcdPeer || leaf.Subject == leaf.Issuer {
			s = min(s, checks.Warning) // a kubelet's is verified by few, and its end takes nothing down
		}
		says(p, x.Target(), s, leaf, inventory.Served)
	}
}

func judge(p *checks.Pass, of string, f *collectors.Fact[collectors.Cert]) {
	as, gap := checks.All(p, f)
	if gap != nil {
		p.Unknown(target(of, collectors.Target{}), gap)
		return
	}
	for _, a := range as {
		t := target(of, a.Target)
		if a.Gap != nil {
			p.Unknown(t, a.Gap)
			continue
		}
		says(p, t, lasts(p, a.Value), a.Value, f)
	}
}

// limits is what a certificate should have left, and what it must have.
func limits(c collectors.Cert) (warn, critical time.Duration, source string) {
	if renewed(c) {
		return max(shortLeast, part(c, shortWarn)), min(servingCritical, part(c, shortCritical)), shortSource
	}
	return servingWarn, servingCritical, servingSource
}

func lasts(p *checks.Pass, c collectors.Cert) checks.Status {
	warn, critical, _ := limits(c)
	switch left := c.NotAfter.Sub(p.Now()); {
	case left < critical:
		return checks.Critical
	case left < warn:
		return checks.Warning
	}
	return checks.OK
}

func says(p *checks.Pass, t collectors.Target, s checks.Status, c collectors.Cert, f collectors.Any) {
	left := c.NotAfter.Sub(p.Now())
	words := "serves with a certificate that expires in %s, on %s"
	if left < 0 {
		words = "serves with a certificate that expired %s ago, on %s"
	}
	warn, _, source := limits(c)
	p.Judge(t, s, words, checks.Span(left), c.NotAfter.UTC().Format(time.DateOnly)).
		Saw(f, "notAfter", c.NotAfter.UTC().Format(time.RFC3339), checks.Span(warn), source).
		Saw(f, "subject", c.Subject, "", "").
		Number("left", left.Seconds())
}

// renewed reports whether the certificate is of those that a program renews.
func renewed(c collectors.Cert) bool {
	return !c.NotBefore.IsZero() && c.NotAfter.Sub(c.NotBefore) < short
}

// part is a share of how long the certificate lasts.
func part(c collectors.Cert, share float64) time.Duration {
	return time.Duration(share * float64(c.NotAfter.Sub(c.NotBefore)))
}

// target is a certificate as a thing that is judged: "certificates/etcd/cp-1".
func target(of string, t collectors.Target) collectors.Target {
	if t.Name != "" {
		of += "/" + t.Name
	}
	return collectors.Target{Component: collectors.Certificates, Name: of, Node: t.Node}
}
