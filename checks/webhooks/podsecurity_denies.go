package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed podsecurity_denies.md
var podSecurityDeniesDoc string

// PodSecurityDenies tells how much pod security refuses.
var PodSecurityDenies = &checks.Check{
	ID:        "podsecurity-denies",
	Component: collectors.Webhooks,
	Title:     "pod security refuses no pod",
	Doc:       podSecurityDeniesDoc,
	Needs:     []collectors.Any{apiserver.SecurityDenials},
	Remedies: []checks.Remedy{
		{Title: "see what is refused, and by which namespace's level", Command: "kubectl get events -A --field-selector reason=FailedCreate | grep PodSecurity", Risk: checks.ReadOnly},
	},
	Run: podSecurityDenies,
}

func podSecurityDenies(p *checks.Pass) {
	by, gap, elapsed := addTallies(p, apiserver.SecurityDenials)
	g := by["denied"]
	t := collectors.Target{Component: collectors.Webhooks, Name: "podsecurity"}
	switch {
	case gap != nil:
		p.Unknown(webhooks.All, gap)
	case g.Window > 0:
		p.Info(t, "refused %s in %s by the level of their namespace", checks.Count(g.Window, "request"), checks.Span(elapsed)).
			Saw(apiserver.SecurityDenials, "denied", fmt.Sprintf("%.0f", g.Window), "", "")
	default:
		p.OK(t, "no request was refused %s; %.0f before", since(elapsed), g.Lifetime-g.Window).
			Saw(apiserver.SecurityDenials, "denied", "0", "", "")
	}
}
