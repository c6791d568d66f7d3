package leases

import (
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// An Elected is a component that runs as several instances of which one leads:
// the scheduler, the controller manager. It holds the facts that are the same
// for all such components.
type Elected struct {
	Component collectors.Component
	Role      cluster.Role // also the name of its lease and of its metric of leadership
	Port      string       // where it serves by default, over TLS
	eks       string       // where EKS serves its metrics

	Instances *collectors.Fact[cluster.Instance] // its pods, by target
	Health    *collectors.Fact[Health]
	Claims    *collectors.Fact[Claim]
	Leads     *collectors.Fact[Leading]
	Client    *collectors.Fact[Client]
	Throttle  *collectors.Fact[metrics.Latency]
}

// NewElected declares the facts of a component. EKS is the path under which
// that provider serves the component's metrics.
func NewElected(c collectors.Component, r cluster.Role, port, eks string) *Elected {
	e := &Elected{Component: c, Role: r, Port: port, eks: eks}
	e.Instances = e.instances()
	e.Health = e.health()
	e.Claims = e.claims()
	e.Leads = e.leads()
	e.Client = e.client()
	e.Throttle = e.throttle()
	return e
}

// Self is the component as a whole.
func (e *Elected) Self() collectors.Target { return collectors.Target{Component: e.Component} }

// targets are the component's pods.
func (e *Elected) targets(s *collectors.Snapshot) ([]collectors.Target, error) {
	is, gap := cluster.InRole(s, e.Role)
	if gap != nil {
		return nil, gap
	}
	var out []collectors.Target
	for _, i := range is {
		out = append(out, e.target(i))
	}
	return out, nil
}

func (e *Elected) target(i cluster.Instance) collectors.Target {
	return collectors.Target{Component: e.Component, Name: i.Name(), Node: i.Node, Addr: i.PodURL("https", i.Flag("secure-port", e.Port))}
}

// instances is what is known of each pod.
func (e *Elected) instances() *collectors.Fact[cluster.Instance] {
	return &collectors.Fact[cluster.Instance]{
		ID:      string(e.Component) + ".instances",
		Doc:     "each pod of the " + string(e.Role) + ": its flags, whether it is ready, how its last container ended",
		Needs:   []collectors.Any{cluster.WhatKind, cluster.Instances},
		Targets: e.targets,
		Derive: func(s *collectors.Snapshot, t collectors.Target) (cluster.Instance, error) {
			i, gap := e.instance(s, t)
			if gap != nil {
				return i, gap
			}
			return i, nil
		},
	}
}

func (e *Elected) instance(s *collectors.Snapshot, t collectors.Target) (cluster.Instance, *collectors.Gap) {
	is, gap := cluster.InRole(s, e.Role)
	if gap != nil {
		return cluster.Instance{}, gap
	}
	for _, i := range is {
		if e.target(i).Is(t) {
			return i, nil
		}
	}
	return cluster.Instance{}, collectors.Gapf(collectors.OutOfScope, "%s is not a pod", t)
}

// A Health is an instance's answer to /healthz, a path that needs no rights.
type Health struct {
	Status  int      // HTTP status
	Failing []string // names of the checks that fail; at most maxFailing
}

// OK reports whether the instance finds itself healthy.
func (h Health) OK() bool { return h.Status >= 200 && h.Status < 300 }

const maxFailing = 8

// health asks /healthz rather than /livez, which the components have only
// since 1.29 and 1.31 and which leaves out the election.
func (e *Elected) health() *collectors.Fact[Health] {
	return &collectors.Fact[Health]{
		ID:      string(e.Component) + ".health",
		Doc:     "the answer of each " + string(e.Role) + " to /healthz",
		Needs:   []collectors.Any{cluster.WhatKind, cluster.Instances},
		Targets: e.targets,
		Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/healthz"}}
		},
		Read: func(rs []collectors.Answered) (Health, error) {
			return Health{Status: rs[0].Status, Failing: failing(string(rs[0].Body))}, nil
		},
	}
}

// failing reads the names of failed checks out of a health endpoint's body:
// lines such as "[-]leaderElection failed: reason withheld".
func failing(body string) []string {
	const longest = 80
	var out []string
	for line := range strings.SplitSeq(body, "\n") {
		name, ok := strings.CutPrefix(line, "[-]")
		if !ok || len(out) == maxFailing {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		out = append(out, strings.ToValidUTF8(name[:min(len(name), longest)], ""))
	}
	return out
}

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
		return none, &collectors.Gap{Reason: collectors.OutOfScope, Detail: "its metrics are not served here: " + rs[0].Gap.Detail}
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
			return nil, collectors.Gapf(collectors.OutOfScope, "the %s shares its process, and that process's metrics do not tell it from the rest", e.Role)
		}
		return ts, err
	}
	return f
}
