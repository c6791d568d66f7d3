package permissions

import (
	"slices"

	"github.com/ktriage/ktriage/collectors/rights"
)

// Writing is what a run writes, each by a flag of its own.
type Writing struct {
	// Namespace and Name are of the ConfigMap of ktriage report; empty for none.
	Namespace, Name string
	Events          bool // of ktriage report
	Reports         []Resource
	ReportName      string
	// Cures are those about etcd, which write to Kubernetes the lock of runs only,
	// and who did what.
	Cures bool
	Lease string
}

// A Resource is one of an API group.
type Resource struct{ Group, Name string }

const system = "kube-system"

// Needs are the rights that writing needs.
func (w Writing) Needs() []Need {
	var out []Need
	add := func(by string, r rights.Right) { out = append(out, Need{Right: r, By: []string{by}, Writes: true}) }
	if w.Name != "" {
		by := "ktriage report --to-configmap"
		for _, verb := range []string{"get", "update"} {
			add(by, rights.Right{Verb: verb, Resource: "configmaps", Namespace: w.Namespace, Name: w.Name})
		}
		// Of what is not there yet, RBAC knows no name.
		add(by, rights.Right{Verb: "create", Resource: "configmaps", Namespace: w.Namespace})
	}
	if w.Events {
		add("ktriage report --events", rights.Right{Verb: "create", Resource: "events", Namespace: system})
	}
	for _, r := range w.Reports {
		by := "ktriage report --openreports"
		add(by, rights.Right{Verb: "patch", Group: r.Group, Resource: r.Name, Name: w.ReportName})
		add(by, rights.Right{Verb: "create", Group: r.Group, Resource: r.Name})
	}
	if w.Cures {
		by := "ktriage fix, about etcd"
		// What says that no cure is wanted, and which cluster it is.
		add(by, rights.Right{Verb: "get", Resource: "configmaps", Namespace: system, Name: "ktriage-halt"})
		add(by, rights.Right{Verb: "get", Resource: "namespaces", Name: system})
		const leases = "leases"
		for _, verb := range []string{"get", "update"} {
			add(by, rights.Right{Verb: verb, Group: "coordination.k8s.io", Resource: leases, Namespace: system, Name: w.Lease})
		}
		add(by, rights.Right{Verb: "create", Group: "coordination.k8s.io", Resource: leases, Namespace: system})
		add(by, rights.Right{Verb: "create", Resource: "events", Namespace: system})
	}
	slices.SortFunc(out, func(a, b Need) int { return rights.Compare(a.Right, b.Right) })
	return slices.CompactFunc(out, func(a, b Need) bool { return a.Right == b.Right })
}
