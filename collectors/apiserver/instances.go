package apiserver

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Front is the API server as the kubeconfig names it: the only instance, one
// of several, or a load balancer that answers from another instance each time.
var Front = collectors.Target{Component: collectors.APIServer, Addr: "kube:"}

// An endpoint is an address behind the Service kubernetes. Each API server
// keeps its own there alive; one that is down is gone within some 15 s.
type endpoint struct{ Host, Port string }

// endpoints lists the addresses behind the Service kubernetes.
var endpoints = &collectors.Fact[[]endpoint]{
	ID:      "apiserver.endpoints",
	Doc:     "the addresses of the API servers, as they publish them behind the Service kubernetes",
	Targets: collectors.Single(Front),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{
			Verb: collectors.List,
			URL:  "kube:/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=" + url.QueryEscape("kubernetes.io/service-name=kubernetes"),
		}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]endpoint] {
		var out []endpoint
		return collectors.Folder[[]endpoint]{
			Add:  func(_ int, o objects.Object) { out = append(out, addresses(o.(*discoveryv1.EndpointSlice))...) },
			Done: func([]collectors.Answered) ([]endpoint, error) { return out, nil },
		}
	},
}

func addresses(s *discoveryv1.EndpointSlice) []endpoint {
	port := "6443"
	for _, p := range s.Ports {
		if p.Port != nil && (p.Name == nil || *p.Name == "https" || len(s.Ports) == 1) {
			port = strconv.Itoa(int(*p.Port))
		}
	}
	var out []endpoint
	for _, e := range s.Endpoints {
		for _, a := range e.Addresses {
			out = append(out, endpoint{a, port})
		}
	}
	return out
}

// An Instance is one process of the API server.
type Instance struct {
	Name       string // its node's name where that is known, else its address
	Node       string
	Host, Port string           // where it listens
	Listed     bool             // it is among the endpoints of the Service kubernetes
	Own        bool             // the kubeconfig's address leads to it and to no other
	Pod        cluster.Instance // its pod; without a name if none was seen
}

func (i Instance) target(addr string) collectors.Target {
	return collectors.Target{Component: collectors.APIServer, Name: i.Name, Node: i.Node, Addr: addr}
}

// Address is host:port of the instance.
func (i Instance) Address() string { return net.JoinHostPort(i.Host, i.Port) }

// Fleet is the instances that are known, and the address in front of them.
type Fleet struct {
	Server string // of the kubeconfig; empty if there is none
	Known  []Instance
	Listed int             // how many addresses the Service kubernetes has
	Why    *collectors.Gap // why that is not known; nil if it is
	Hidden *collectors.Gap // why no instance is known; nil if one is
}

// Instances tells which API servers there are: by the endpoints of the Service
// kubernetes, from which one that is down vanishes, and by their pods, which
// stay but which not every cluster shows.
var Instances = &collectors.Fact[Fleet]{
	ID:      "apiserver.instances",
	Doc:     "which API servers there are, and where each listens",
	Needs:   []collectors.Any{endpoints, cluster.Instances, cluster.NodeSummary, cluster.WhatKind, cluster.HowReached},
	Targets: collectors.Single(Front),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Fleet, error) {
		a, _ := cluster.HowReached.One(s)
		f := Fleet{Server: a.Server}
		if k, gap := cluster.WhatKind.One(s); gap == nil && k.Managed() {
			f.Hidden = collectors.Gapf(collectors.OutOfScope, "%s keeps the instances to itself", k.Distribution).Of(collectors.Hidden)
			return f, nil
		}
		eps, gap := endpoints.One(s)
		pods, _ := cluster.InRole(s, cluster.RoleAPIServer) // a cluster without such pods still has endpoints
		nodes, _ := cluster.NodeSummary.One(s)
		f.Listed, f.Why = len(eps), gap
		f.Known = fleet(eps, pods, nodes)
		if len(f.Known) == 0 {
			f.Hidden = gap
			if gap == nil {
				f.Hidden = collectors.Gapf(collectors.Absent, "the Service kubernetes has no endpoints, and no pod of the API server is to be seen")
			}
		}
		front := serverAddress(f.Server)
		for n := range f.Known {
			i := &f.Known[n]
			i.Own = len(f.Known) == 1 || i.Address() == front
		}
		return f, nil
	},
}

// fleet puts together what endpoints and pods say. They are matched by the
// pod's node, since a pod may advertise another address than its node's.
func fleet(eps []endpoint, pods []cluster.Instance, nodes cluster.Nodes) []Instance {
	advertised := map[string]int{}
	for _, p := range pods {
		advertised[p.Flag("advertise-address", p.HostIP)]++
	}
	byName := map[string]*Instance{}
	for _, p := range pods {
		host := p.Flag("advertise-address", p.HostIP)
		if advertised[host] > 1 { // all advertise the address of what stands before them
			host = p.HostIP
		}
		if host == "" {
			continue
		}
		i := &Instance{Name: p.Name(), Node: p.Node, Host: host, Port: p.Flag("secure-port", "6443"), Pod: p}
		if p.MadeUp {
			i.Pod = cluster.Instance{}
		}
		byName[p.Name()] = i
	}
	for _, e := range eps {
		if advertised[e.Host] > 1 {
			continue
		}
		name := cmp.Or(podAt(pods, e.Host), nodes.Addresses[e.Host], e.Host)
		i := byName[name]
		if i == nil {
			i = &Instance{Name: name, Node: nodes.Addresses[e.Host], Host: e.Host, Port: e.Port}
			byName[name] = i
		}
		i.Listed = true
	}
	var out []Instance
	for _, i := range byName {
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func podAt(pods []cluster.Instance, host string) string {
	for _, p := range pods {
		if p.HostIP == host || p.Flag("advertise-address", "") == host {
			return p.Name()
		}
	}
	return ""
}

// serverAddress is host:port of the kubeconfig's server.
func serverAddress(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
}
