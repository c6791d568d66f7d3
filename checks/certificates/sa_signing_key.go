package certificates

import (
	_ "embed"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed sa_signing_key.md
var sASigningKeyDoc string

// SASigningKey looks for API servers that do not know each other's tokens.
var SASigningKey = &checks.Check{
	ID:        "sa-signing-key-mismatch",
	Component: collectors.Certificates,
	Title:     "all API servers know service accounts' tokens by the same keys",
	Doc:       sASigningKeyDoc,
	Needs:     []collectors.Any{inventory.SigningKeys},
	Remedies: []checks.Remedy{
		{Title: "on each control-plane node, compare the keys", Command: "sha256sum /etc/kubernetes/pki/sa.pub /etc/kubernetes/pki/sa.key", Risk: checks.ReadOnly},
		{Title: "copy both from a node whose tokens are in use to the others, and restart their API server and controller manager", Command: "scp /etc/kubernetes/pki/sa.pub /etc/kubernetes/pki/sa.key NODE:/etc/kubernetes/pki/", Risk: checks.Dangerous},
	},
	Run: sASigningKey,
}

func sASigningKey(p *checks.Pass) {
	all, gap := checks.All(p, inventory.SigningKeys)
	t := collectors.Target{Component: collectors.Certificates, Name: "service-accounts"}
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	var seen []collectors.Answer[inventory.Keys]
	var why *collectors.Gap
	for _, a := range all {
		if a.Gap != nil {
			why = a.Gap
			continue
		}
		seen = append(seen, a)
	}
	if len(seen) == 0 {
		if why == nil {
			why = collectors.Gapf(collectors.Absent, "no API server was asked")
		}
		p.Unknown(t, why)
		return
	}
	first, s, other := seen[0], checks.OK, ""
	for _, a := range seen[1:] {
		if slices.Equal(a.Value, first.Value) {
			continue
		}
		if s < checks.Warning {
			s, other = checks.Warning, a.Target.Name
		}
		if !slices.ContainsFunc(a.Value, func(k string) bool { return slices.Contains(first.Value, k) }) {
			s, other = checks.Critical, a.Target.Name
		}
	}
	if s == checks.OK && why != nil {
		p.Unknown(t, why)
		return
	}
	var v *checks.Verdict
	switch s {
	case checks.Critical:
		v = p.Critical(t, "%s and %s know no key in common: a token that the one accepts the other refuses", first.Target.Name, other)
	case checks.Warning:
		v = p.Warn(t, "%s and %s know different keys: some tokens are accepted by the one only", first.Target.Name, other)
	default:
		v = p.OK(t, "%s with the same %s", checks.Count(len(seen), "API server"), checks.Count(len(first.Value), "key"))
	}
	for _, a := range seen {
		v.Saw(inventory.SigningKeys, a.Target.Name, a.Value.String(), first.Value.String(), "")
	}
}
