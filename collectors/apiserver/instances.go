package apiserver

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
			f.Hidden = collectors.Gapf(collectors.OutOfScope, "%s keeps the instances to itself", k.Distribution)
			return f, nil
		}
		eps, gap := endpoints.One(s)
		pods, _ := cluster.InRole(s, cluster.RoleAPIServer) // a cluster without such pods still has endpoints
		nodes, _ := cluster.NodeSummary.One(s)
		f.Listed = len(eps)
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
		byName[p.Name()] = &Instance{Name: p.Name(), Node: p.Node, Host: host, Port: p.Flag("secure-port", "6443"), Pod: p}
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

// atFront is what the address of the kubeconfig answers.
var atFront = &collectors.Fact[Health]{
	ID:      "apiserver.front",
	Doc:     "what the kubeconfig's address answers to /readyz",
	Targets: collectors.Single(Front),
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// direct is what each instance answers at its own address. From outside of the
// cluster's network that is often nothing, which says nothing about it.
var direct = &collectors.Fact[Health]{
	ID:    "apiserver.direct",
	Doc:   "what each API server answers to /readyz at its own address",
	Needs: []collectors.Any{Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, i := range f.Known {
			if !i.Own {
				out = append(out, i.target("apiserver://"+i.Address()))
			}
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// forwarded is what those instances answer through port-forward that cannot be
// reached at their own address. It leads through the API server itself, so it
// is not tried if that does not answer.
var forwarded = &collectors.Fact[Health]{
	ID:    "apiserver.forwarded",
	Doc:   "what API servers that cannot be reached directly answer to /readyz by port-forward into their pods",
	Needs: []collectors.Any{Instances, atFront, direct},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		if _, gap := atFront.One(s); !OutcomeOf(gap).Reached() {
			return nil, nil
		}
		var out []collectors.Target
		for _, i := range f.Known {
			_, gap := direct.Of(s, i.target(""))
			if i.Own || i.Pod.Pod == "" || i.Pod.Phase != corev1.PodRunning || OutcomeOf(gap).Reached() {
				continue
			}
			out = append(out, i.target(i.Pod.PodURL("https", i.Pod.Flag("secure-port", "6443"))))
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: readHealth,
}

// A Way is how one instance is asked in this run, and what it said to /readyz.
type Way struct {
	Target collectors.Target // its Addr is the front part of the URLs to ask
	By     string            // "the kubeconfig's address", "its own address", "port-forward"
	Health Health
	Gap    *collectors.Gap // why there is no Health
}

// Ways are the instances that can be asked, each by one way. Where none can be
// told from the others, it is the one way through the kubeconfig's address,
// whose target has no name.
var Ways = &collectors.Fact[[]Way]{
	ID:      "apiserver.ways",
	Doc:     "which API servers can be asked from here, and by which way",
	Needs:   []collectors.Any{Instances, atFront, direct, forwarded},
	Targets: collectors.Single(Front),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) ([]Way, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		h, frontGap := atFront.One(s)
		var out []Way
		for _, i := range f.Known {
			if i.Own && (len(f.Known) == 1 || OutcomeOf(frontGap).Reached()) {
				out = append(out, Way{i.target(Front.Addr), "the kubeconfig's address", h, frontGap})
				continue
			}
			for _, w := range []struct {
				by   string
				fact *collectors.Fact[Health]
			}{{"its own address", direct}, {"port-forward", forwarded}} {
				as, _ := w.fact.Answers(s)
				for _, a := range as {
					if a.Target.Is(i.target("")) && OutcomeOf(a.Gap).Reached() {
						out = append(out, Way{a.Target, w.by, a.Value, a.Gap})
					}
				}
			}
		}
		if len(out) == 0 {
			out = []Way{{Front, "the kubeconfig's address", h, frontGap}}
		}
		return out, nil
	},
}

// targets are the instances that can be asked.
func targets(s *collectors.Snapshot) ([]collectors.Target, error) {
	ways, gap := Ways.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []collectors.Target
	for _, w := range ways {
		out = append(out, w.Target)
	}
	return out, nil
}

// An Attempt is how the attempts to reach one instance, or the address in front
// of all, ended.
type Attempt struct {
	Instance Instance        // without a name for the address in front
	Outcome  Outcome         // at its own address
	Detail   string          // what came back, where it did not answer
	Took     float64         // seconds until the answer began; 0 without one
	By       string          // by what way it was reached in the end; empty if by none
	Gap      *collectors.Gap // of the attempt at its own address
}

// Attempts tells for the address in front, and for each instance, whether it
// was reached and if not, why not. The first is that of the address in front.
var Attempts = &collectors.Fact[[]Attempt]{
	ID:      "apiserver.attempts",
	Doc:     "how each attempt to reach an API server ended",
	Needs:   []collectors.Any{Instances, atFront, direct, forwarded, Ways},
	Targets: collectors.Single(Front),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) ([]Attempt, error) {
		f, gap := Instances.One(s)
		if gap != nil {
			return nil, gap
		}
		h, gap := atFront.One(s)
		out := []Attempt{attempt(Instance{}, h, gap)}
		ways, _ := Ways.One(s)
		for _, i := range f.Known {
			a := out[0]
			a.Instance = i
			if !i.Own {
				h, gap := direct.Of(s, i.target(""))
				a = attempt(i, h, gap)
			}
			for _, w := range ways {
				if w.Target.Name == i.Name {
					a.By = w.By
				}
			}
			out = append(out, a)
		}
		return out, nil
	},
}

func attempt(i Instance, h Health, gap *collectors.Gap) Attempt {
	a := Attempt{Instance: i, Outcome: OutcomeOf(gap), Took: h.Took.Seconds(), Gap: gap}
	if gap != nil {
		a.Detail = gap.Detail
	}
	return a
}
