package leases

import (
	"slices"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// MetricsTargets are where the component's metrics are served: by each pod,
// by EKS for all of them, by k3s as part of one registry.
func (e *Elected) MetricsTargets(s *collectors.Snapshot) ([]collectors.Target, error) {
	kind, gap := cluster.WhatKind.One(s)
	if gap == nil && kind.Distribution == cluster.EKS {
		return []collectors.Target{{Component: e.Component, Name: "eks", Addr: "kube:" + e.eks}}, nil
	}
	if gap == nil && kind.Embedded {
		return []collectors.Target{{Component: e.Component, Name: string(kind.Distribution), Addr: merged}}, nil
	}
	return e.targets(s)
}

// merged is the address of a registry that all components of a process share.
const merged = "kube:"

// WindowFact makes a fact of what each instance's metrics say over the window.
func WindowFact[T any](e *Elected, id, doc string, read func(metrics.Window) (T, error), want ...metrics.Select) *collectors.Fact[T] {
	f := collectors.WindowFact(string(e.Component)+"."+id, doc, []collectors.Any{cluster.WhatKind, cluster.Instances}, e.MetricsTargets,
		func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
			return collectors.Scrapes(t.Addr+"/metrics", nil, want...)
		}, read)
	readWindow := f.Read
	f.Read = func(rs []collectors.Answered) (T, error) {
		for _, r := range rs {
			if r.Gap == nil || r.Gap.Reason != collectors.Absent {
				return readWindow(rs)
			}
		}
		// A pod always has the path; EKS has it from some platform versions on.
		var none T
		return none, &collectors.Gap{Reason: collectors.OutOfScope, Kind: collectors.Hidden, Detail: "its metrics are not served here: " + rs[0].Gap.Detail}
	}
	return f
}

// own is WindowFact for families that tell of a process rather than of a
// component. Where components share a process they cannot be told apart.
func own[T any](e *Elected, id, doc string, read func(metrics.Window) (T, error), want ...metrics.Select) *collectors.Fact[T] {
	f := WindowFact(e, id, doc, read, want...)
	f.Targets = func(s *collectors.Snapshot) ([]collectors.Target, error) {
		ts, err := e.MetricsTargets(s)
		if err == nil && slices.ContainsFunc(ts, func(t collectors.Target) bool { return t.Addr == merged }) {
			return nil, collectors.Gapf(collectors.OutOfScope, "the %s shares its process, and that process's metrics do not tell it from the rest", e.Role).Of(collectors.Hidden)
		}
		return ts, err
	}
	return f
}
