package certificates

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed kubeconfig_self.md
var kubeconfigSelfDoc string

// KubeconfigSelf looks whether this run's own credentials end.
var KubeconfigSelf = &checks.Check{
	ID:        "kubeconfig-self",
	Component: collectors.Certificates,
	Title:     "the kubeconfig's credentials last",
	Doc:       kubeconfigSelfDoc,
	Needs:     []collectors.Any{cluster.HowReached},
	Remedies: []checks.Remedy{
		{Title: "on a control-plane node, see what expires when", Command: "kubeadm certs check-expiration", Risk: checks.ReadOnly},
		{Title: "on a control-plane node, renew the administrator's", Command: "kubeadm certs renew admin.conf", Risk: checks.Safe},
	},
	Thresholds: []*checks.Threshold{selfWarnAt},
	Run:        kubeconfigSelf,
}

// selfWarn leaves a day to get another. Source: RULES; it ends at a warning:
// nothing but this kubeconfig stops to work.
const selfWarn = day

var selfWarnAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(selfWarn), "that the client certificate is valid still", "experience; no public source")

func kubeconfigSelf(p *checks.Pass) {
	t := collectors.Target{Component: collectors.Certificates, Name: "kubeconfig"}
	a, gap := checks.One(p, cluster.HowReached)
	switch left := a.ClientUntil.Sub(p.Now()); {
	case gap != nil:
		p.Unknown(t, gap)
	case a.ClientUntil.IsZero() && !a.TokenUntil.IsZero():
		left := a.TokenUntil.Sub(p.Now())
		s, words := checks.OK, "the kubeconfig's token expires in %s"
		if left < 0 {
			s, words = checks.Warning, "the kubeconfig's token expired %s ago"
		}
		// Who has a token that is renewed all the time has minutes left: only its end is trouble.
		p.Judge(t, s, words, checks.Span(left)).Saw(cluster.HowReached, "exp", a.TokenUntil.UTC().Format(time.RFC3339), "", "")
	case a.ClientUntil.IsZero():
		p.Nothing(t, "the kubeconfig has no client certificate (%s)", a.User)
	case left < 0:
		p.Warn(t, "the kubeconfig's client certificate expired %s ago", checks.Span(left)).
			Saw(cluster.HowReached, "notAfter", a.ClientUntil.UTC().Format(time.RFC3339), checks.Span(p.Span(selfWarnAt)), "").Mark("expired")
	case left < p.Span(selfWarnAt):
		p.Warn(t, "the kubeconfig's client certificate expires in %s", checks.Span(left)).
			Saw(cluster.HowReached, "notAfter", a.ClientUntil.UTC().Format(time.RFC3339), checks.Span(p.Span(selfWarnAt)), "")
	default:
		p.OK(t, "the kubeconfig's client certificate expires in %s", checks.Span(left)).
			Saw(cluster.HowReached, "notAfter", a.ClientUntil.UTC().Format(time.RFC3339), checks.Span(p.Span(selfWarnAt)), "")
	}
}
