package pods

import (
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// autoscalers are the leases of programs that add nodes for pods that fit on
// none.
var autoscalers = []string{"cluster-autoscaler", "karpenter-leader-election"}

// autoscaler names what may add nodes for pods that wait, or returns "".
func autoscaler(p *checks.Pass) string {
	if k, gap := checks.One(p, cluster.WhatKind); gap == nil && k.Managed() {
		return string(k.Distribution) // which may do so without a trace in the cluster
	}
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		return ""
	}
	for _, l := range h.Leases {
		if slices.Contains(autoscalers, l.Name) && l.Fresh(h.At) {
			return l.ID()
		}
	}
	return ""
}
