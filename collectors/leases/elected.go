package leases

import (
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
	Rights    *collectors.Fact[Rights]
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
	e.Rights = e.allowed()
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
