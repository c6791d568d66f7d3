package certificates

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed ca_expiring.md
var caExpiringDoc string

// CAExpiring looks whether the cluster's CA ends.
var CAExpiring = &checks.Check{
	ID:        "ca-expiring",
	Component: collectors.Certificates,
	Title:     "the cluster's CA lasts",
	Doc:       caExpiringDoc,
	Needs:     []collectors.Any{cluster.HowReached},
	Remedies: []checks.Remedy{
		{Title: "see what the kubeconfig trusts", Command: "kubectl config view --raw -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "plan its rotation, which takes weeks and touches everything", Command: "ktriage explain ca-expiring", Risk: checks.ReadOnly},
	},
	Run: caExpiring,
}

// No number is published. Rotating a CA means to give a new one to every
// client before the old one ends: a year is time to plan, a quarter to begin.
const (
	caInfo   = 365 * day
	caWarn   = 90 * day
	caSource = "experience; no public source"
)

func caExpiring(p *checks.Pass) {
	t := collectors.Target{Component: collectors.Certificates, Name: "cluster-ca"}
	a, gap := checks.One(p, cluster.HowReached)
	left := a.CAUntil.Sub(p.Now())
	switch {
	case gap != nil:
		p.Unknown(t, gap)
		return
	case a.CAUntil.IsZero():
		p.Nothing(t, "the kubeconfig names no CA of the cluster's own")
		return
	}
	s, words := checks.OK, "the CA that the kubeconfig trusts expires in %s"
	switch {
	case left < 0:
		s, words = checks.Critical, "the CA that the kubeconfig trusts expired %s ago: whoever trusts no other cannot connect"
	case left < caWarn:
		s = checks.Warning
	case left < caInfo:
		s = checks.Info
	}
	p.Judge(t, s, words, checks.Span(left)).
		Saw(cluster.HowReached, "CA notAfter", a.CAUntil.UTC().Format(time.RFC3339), checks.Span(caWarn), caSource)
}
