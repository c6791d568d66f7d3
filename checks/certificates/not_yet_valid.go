package certificates

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed not_yet_valid.md
var notYetValidDoc string

// NotYetValid looks for certificates that are not valid yet.
var NotYetValid = &checks.Check{
	ID:        "cert-not-yet-valid",
	Component: collectors.Certificates,
	Title:     "no certificate begins in the future",
	Doc:       notYetValidDoc,
	Needs:     []collectors.Any{inventory.Served},
	Remedies: []checks.Remedy{
		{Title: "on the node, see whether its clock is right", Command: "timedatectl status", Risk: checks.ReadOnly},
	},
	Run: notYetValid,
}

// ahead is how far a clock may be off: those who make certificates date them back
// by minutes for that reason.
const ahead = time.Minute

func notYetValid(p *checks.Pass) {
	servers := collectors.Target{Component: collectors.Certificates, Name: "servers"}
	as, gap := checks.All(p, inventory.Served)
	seen, bad := 0, 0
	for _, a := range as {
		if a.Gap != nil { // cert-serving-expiring says so
			gap = a.Gap
			continue
		}
		seen++
		leaf := a.Value.Leaf()
		if wait := leaf.NotBefore.Sub(p.Now()); wait > ahead {
			bad++
			p.Critical(a.Target, "it shows a certificate that is valid only in %s: whoever verifies it refuses it, or a clock is wrong", checks.Span(wait)).
				Saw(inventory.Served, "notBefore", leaf.NotBefore.Format(time.RFC3339), "now", "")
		}
	}
	switch {
	case bad > 0:
	case seen > 0:
		p.OK(servers, "all %d certificates that were seen, of %s, have begun to be valid", seen, checks.Count(len(as), "server"))
	case gap != nil:
		p.Unknown(servers, gap)
	default:
		p.Nothing(servers, "no server of the control plane is known that shows one")
	}
}
