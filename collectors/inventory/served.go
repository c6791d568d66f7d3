package inventory

import (
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// The kinds of servers, as the first part of their target's name.
const (
	APIServer   = "apiserver"
	Scheduler   = "scheduler"
	Controllers = "controllers"
	Cloud       = "cloud-controllers"
	EtcdClient  = "etcd"
	EtcdPeer    = "etcd-peer"
	Kubelet     = "kubelet"
)

// A Server is one that shows a certificate.
type Server struct {
	Kind string
	Name string // its instance; empty for what stands in front of all API servers
	Node string
	URLs []string // the ways to it
	// Named says that the server was told its certificate. Otherwise it signed
	// one itself when it started, which nobody verifies.
	Named bool
}

// Target is the server's certificate as a thing that is judged.
func (s Server) Target() collectors.Target {
	name := s.Kind
	if s.Name != "" {
		name += "/" + s.Name
	}
	t := collectors.Target{Component: collectors.Certificates, Name: name, Node: s.Node}
	if len(s.URLs) > 0 {
		t.Addr = s.URLs[0]
	}
	return t
}

// Unseen is servers of a kind of which it is not known where they are.
type Unseen struct {
	Kind string
	Gap  *collectors.Gap
}

// Known is all servers of a control plane that show certificates.
type Known struct {
	Servers []Server
	Unseen  []Unseen
	Workers int // nodes besides those of the control plane, whose kubelets are not asked
}

// Servers tells which servers of the control plane show certificates, and by
// which way each can be asked for them.
var Servers = &collectors.Fact[Known]{
	ID:      "certificates.servers",
	Doc:     "which servers of the control plane show certificates, and how they are reached",
	Needs:   []collectors.Any{apiserver.Instances, cluster.Instances, cluster.WhatKind, cluster.NodeSummary, etcd.Members},
	Targets: collectors.Single(All),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Known, error) {
		var k Known
		k.apiServers(s)
		for _, c := range []struct {
			kind string
			role cluster.Role
			port string
		}{{Scheduler, cluster.RoleScheduler, "10259"}, {Controllers, cluster.RoleControllers, "10257"}, {Cloud, cluster.RoleCloudController, "10258"}} {
			is, gap := cluster.InRole(s, c.role)
			if gap != nil && (c.kind != Cloud || gap.Reason != collectors.Absent) {
				k.Unseen = append(k.Unseen, Unseen{c.kind, gap})
			}
			for _, i := range is {
				if port := i.Flag("secure-port", c.port); port != "0" && !i.MadeUp {
					k.Servers = append(k.Servers, Server{c.kind, i.Name(), i.Node, []string{i.PodURL("https", port) + "/"}, i.Flag("tls-cert-file", "") != ""})
				}
			}
		}
		k.etcd(s)
		k.kubelets(s)
		return k, nil
	},
}

func (k *Known) apiServers(s *collectors.Snapshot) {
	f, gap := apiserver.Instances.One(s)
	if gap != nil {
		k.Unseen = append(k.Unseen, Unseen{APIServer, gap})
		return
	}
	own := false
	for _, i := range f.Known {
		x := Server{APIServer, i.Name, i.Node, []string{"kube:/"}, true}
		if own = own || i.Own; !i.Own {
			x.URLs = []string{"apiserver://" + i.Address() + "/"}
			if i.Pod.Pod != "" && i.Pod.Phase == corev1.PodRunning {
				x.URLs = append(x.URLs, i.Pod.PodURL("https", i.Port)+"/")
			}
		}
		k.Servers = append(k.Servers, x)
	}
	if !own {
		k.Servers = append(k.Servers, Server{Kind: APIServer, URLs: []string{"kube:/"}, Named: true})
	}
}

func (k *Known) etcd(s *collectors.Snapshot) {
	m, gap := etcd.Members.One(s)
	if gap != nil {
		k.Unseen = append(k.Unseen, Unseen{EtcdClient, gap}, Unseen{EtcdPeer, gap})
		return
	}
	for _, x := range m.Members {
		if x.Client != "" {
			k.Servers = append(k.Servers, Server{EtcdClient, x.Name, x.Node, []string{"etcd://" + x.Client + "/"}, true})
		}
		if x.Peer != "" {
			k.Servers = append(k.Servers, Server{EtcdPeer, x.Name, x.Node, []string{"etcd://" + x.Peer + "/"}, true})
		}
	}
}

// kubeletPort is where kubelets serve, unless they were told otherwise, which
// nothing that is read here tells.
const kubeletPort = "10250"

// kubelets are those of the control plane's nodes. The port-forward of a pod that
// is in its node's network leads to the node's kubelet as well. Those of other
// nodes are not asked: there may be thousands.
func (k *Known) kubelets(s *collectors.Snapshot) {
	nodes, gap := cluster.NodeSummary.One(s)
	if gap != nil {
		k.Unseen = append(k.Unseen, Unseen{Kubelet, gap})
		return
	}
	k.Workers = nodes.Count - len(nodes.ControlPlane)
	pods, _ := cluster.Instances.One(s)
	for _, n := range nodes.ControlPlane {
		x := Server{Kind: Kubelet, Name: n, Node: n, Named: true}
		i := slices.IndexFunc(pods, func(p cluster.Instance) bool { return p.Node == n && p.Phase == corev1.PodRunning && !p.MadeUp })
		if i >= 0 {
			x.URLs = append(x.URLs, pods[i].PodURL("https", kubeletPort)+"/")
		}
		for ip, name := range nodes.Addresses {
			if name == n && !slices.ContainsFunc(x.URLs, func(u string) bool { return len(u) > 4 && u[:4] == "tls:" }) {
				x.URLs = append(x.URLs, "tls://"+net.JoinHostPort(ip, kubeletPort)+"/")
			}
		}
		if len(x.URLs) > 0 {
			k.Servers = append(k.Servers, x)
		}
	}
}

// Served is the certificates that each server shows, whoever vouches for them.
var Served = &collectors.Fact[certificates.Chain]{
	ID:    "certificates.served",
	Doc:   "the certificates that each server of the control plane shows",
	Needs: []collectors.Any{Servers},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		k, gap := Servers.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, x := range k.Servers {
			out = append(out, x.Target())
		}
		return out, nil
	},
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		k, _ := Servers.One(s)
		i := slices.IndexFunc(k.Servers, func(x Server) bool { return x.Target().Is(t) })
		urls := k.Servers[i].URLs
		return []collectors.Request{{Verb: collectors.Greet, URL: urls[0], Or: urls[1:]}}
	},
	Read: func(rs []collectors.Answered) (certificates.Chain, error) { return certificates.ReadChain(rs[0]) },
}
