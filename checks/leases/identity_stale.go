package leases

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed identity_stale.md
var identityStaleDoc string

// IdentityStale looks for API servers that run and do not say so.
var IdentityStale = &checks.Check{
	ID:        "apiserver-identity-lease-stale",
	Component: collectors.Leases,
	Title:     "every API server renews the lease by which the others know of it",
	Doc:       identityStaleDoc,
	Needs:     []collectors.Any{leases.Identities, cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see when each was renewed", Command: "kubectl -n kube-system get leases -l apiserver.kubernetes.io/identity=kube-apiserver -o custom-columns=LEASE:.metadata.name,HOST:.metadata.labels.kubernetes\\.io/hostname,RENEWED:.spec.renewTime", Risk: checks.ReadOnly},
	},
	Run: identityStale,
}

// identityFresh is three times the interval at which they are renewed.
// Source: k8s.io/kubernetes, pkg/controlplane, IdentityLeaseRenewIntervalPeriod.
const identityFresh = 30 * time.Second

func identityStale(p *checks.Pass) {
	ids, gap := checks.One(p, leases.Identities)
	switch {
	case gap != nil:
		p.Unknown(leases.All, gap)
		return
	case len(ids) == 0:
		p.Nothing(leases.All, "API servers have no leases of their own here: they do from 1.26 on")
		return
	}
	fresh := 0
	for _, i := range ids {
		if i.Age <= identityFresh {
			fresh++
		}
	}
	is, gap := checks.One(p, cluster.Instances)
	run := 0
	for _, i := range is {
		if i.Role == cluster.RoleAPIServer && i.Ready {
			run++
		}
	}
	var v *checks.Verdict
	switch {
	case gap == nil && run > 0 && fresh < run:
		v = p.Warn(leases.All, "%s ready, and only %d of their leases were renewed within %s", areReady(run), fresh, checks.Span(identityFresh))
	case fresh < len(ids):
		v = p.Info(leases.All, "%d of %s renewed; the rest are of API servers that are gone, the first for %s", fresh, checks.Count(len(ids), "lease"), checks.Span(ids[0].Age))
	default:
		v = p.OK(leases.All, "all of %s of API servers were renewed within %s", checks.Count(len(ids), "lease"), checks.Span(identityFresh))
	}
	v.Saw(leases.Identities, "fresh", fmt.Sprint(fresh), fmt.Sprint(run), "kube-apiserver renews them every 10 s").Number("missing", float64(max(0, run-fresh)))
}

func areReady(n int) string {
	if n == 1 {
		return "1 API server is"
	}
	return fmt.Sprintf("%d API servers are", n)
}
