package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed lb_pending.md
var lbPendingDoc string

// LBPending looks for Services that wait for a load balancer.
var LBPending = &checks.Check{
	ID:        "ccm-lb-pending",
	Component: collectors.Controllers,
	Title:     "every Service that asks for a load balancer has one",
	Doc:       lbPendingDoc,
	Needs:     []collectors.Any{controllers.Balancers, leases.Leases, cluster.WhatKind},
	Remedies: []checks.Remedy{
		{Title: "read why", Command: "kubectl -n {ns} describe service {obj}", Risk: checks.ReadOnly},
		{Title: "read what the cloud controller manager says", Command: "kubectl -n kube-system logs -l k8s-app=cloud-controller-manager --tail=100", Risk: checks.ReadOnly},
	},
	Run: lbPending,
}

func lbPending(p *checks.Pass) {
	provided := false
	if k, gap := checks.One(p, cluster.WhatKind); gap == nil {
		provided = k.Managed()
	}
	if h, gap := checks.One(p, leases.Leases); gap == nil {
		_, found := h.Of("cloud-controller-manager")
		provided = provided || found
	}
	for t, l := range checks.Each(p, controllers.Balancers) {
		if len(l.Held) == 0 {
			p.OK(t, "of %s none waits for a load balancer", checks.Count(l.Objects, "Service")).
				Saw(controllers.Balancers, "waiting", "0", "", "")
			continue
		}
		n := 0
		for i := range l.Held {
			h := &l.Held[i]
			n += h.Count
			h.Bad = provided
			if !provided {
				h.By += ", and no cloud controller manager that would make one is known here"
			}
		}
		p.OK(t, "%d of %s without a load balancer for long", n, checks.Count(l.Objects, "Service"))
		held(p, controllers.Balancers, l, words{source: "experience; clouds take a minute or two"})
	}
}
