package certificates

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed ca_expiring.md
var caExpiringDoc string

// CAExpiring looks whether one of the cluster's CAs ends.
var CAExpiring = &checks.Check{
	ID:        "ca-expiring",
	Component: collectors.Certificates,
	Title:     "the cluster's CAs last",
	Doc:       caExpiringDoc,
	Needs:     []collectors.Any{cluster.HowReached, etcd.HowReached, inventory.Trusted},
	Remedies: []checks.Remedy{
		{Title: "see what the kubeconfig trusts", Command: "kubectl config view --raw -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "plan its rotation, which takes weeks and touches everything", Command: "ktriage explain ca-expiring", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{caInfoAt, caWarnAt},
	Run:        caExpiring,
}

// No number is published. Rotating a CA means to give a new one to every
// client before the old one ends: a year is time to plan, a quarter to begin.
const (
	caInfo   = 365 * day
	caWarn   = 90 * day
	caSource = "experience; no public source"
)

var (
	caInfoAt = checks.NewThreshold("info", checks.InSeconds, checks.Secs(caInfo), "that a CA is valid still", caSource)
	caWarnAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(caWarn), "that a CA is valid still", caSource)
)

func caExpiring(p *checks.Pass) {
	a, gap := checks.One(p, cluster.HowReached)
	t := collectors.Target{Component: collectors.Certificates, Name: "cluster-ca"}
	if gap == nil && a.CAUntil.IsZero() {
		p.Nothing(t, "the kubeconfig names no CA of the cluster's own")
	} else {
		authority(p, t, "the CA that the kubeconfig trusts", "whoever trusts no other cannot connect", checks.Critical, a.CAUntil, gap, cluster.HowReached)
	}
	tr, gap := checks.One(p, inventory.Trusted)
	for _, x := range []struct {
		name, words, then string
		worst             checks.Status
		bundle            certificates.Bundle
	}{
		{"client-ca", "the CA of client certificates", "all of them are refused, kubelets' and controllers' above all", checks.Critical, tr.Clients},
		{"front-proxy-ca", "the front proxy's CA", "extension API servers refuse what is passed on to them", checks.Warning, tr.Front},
	} {
		t := collectors.Target{Component: collectors.Certificates, Name: x.name}
		switch {
		case gap == nil && x.bundle.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Malformed, "%s cannot be read: %s", x.words, x.bundle.Broken))
		case gap == nil && x.bundle.Empty():
			p.Nothing(t, "the API server makes none known")
		default:
			authority(p, t, x.words, x.then, x.worst, x.bundle.Until, gap, inventory.Trusted)
		}
	}
	e, gap := checks.One(p, etcd.HowReached)
	var until time.Time
	for _, c := range e.CA {
		if c.NotAfter.After(until) {
			until = c.NotAfter
		}
	}
	t = collectors.Target{Component: collectors.Certificates, Name: "etcd-ca"}
	if gap == nil && until.IsZero() {
		p.Nothing(t, "this run was given no CA of etcd's")
		return
	}
	authority(p, t, "etcd's CA", "API servers and members trust no member", checks.Critical, until, gap, etcd.HowReached)
}

// authority judges when the last certificate of one CA ends.
func authority(p *checks.Pass, t collectors.Target, what, then string, worst checks.Status, until time.Time, gap *collectors.Gap, f collectors.Any) {
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	left := until.Sub(p.Now())
	s, words := checks.OK, fmt.Sprintf("%s expires in %s", what, checks.Span(left))
	switch {
	case left < 0:
		s, words = worst, fmt.Sprintf("%s expired %s ago: %s", what, checks.Span(left), then)
	case left < p.Span(caWarnAt):
		s = checks.Warning
	case left < p.Span(caInfoAt):
		s = checks.Info
	}
	p.Judge(t, s, "%s", words).
		Saw(f, "CA notAfter", until.UTC().Format(time.RFC3339), checks.Span(p.Span(caWarnAt)), caSource)
}
