package cluster

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Distribution is a way in which a control plane is put together. It decides
// which parts can be asked, not what is right or wrong.
type Distribution string

// The distributions.
const (
	Kubeadm   Distribution = "kubeadm" // and all that look like it: static pods with the labels of kubeadm
	Kind      Distribution = "kind"
	K3s       Distribution = "k3s"
	RKE2      Distribution = "rke2"
	OpenShift Distribution = "openshift"
	Talos     Distribution = "talos"
	MicroK8s  Distribution = "microk8s"
	EKS       Distribution = "eks"
	GKE       Distribution = "gke"
	AKS       Distribution = "aks"
	Other     Distribution = "unknown"
)

// An Identity is what kind of cluster this is.
type Identity struct {
	Distribution Distribution
	// Embedded says that scheduler and controller manager run inside another
	// process and have no pods: k3s, microk8s.
	Embedded bool
	// SQL says that the API server stores in something that is not etcd.
	SQL bool
}

// Managed reports whether the provider keeps the control plane to itself.
func (i Identity) Managed() bool {
	return i.Distribution == EKS || i.Distribution == GKE || i.Distribution == AKS
}

// openShift tells whether the API server knows OpenShift's configuration.
var openShift = &collectors.Fact[bool]{
	ID:      "cluster.openshift",
	Doc:     "whether the API group config.openshift.io is served",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/apis/config.openshift.io"}}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (bool, error) {
		switch g := rs[0].Gap; {
		case g == nil:
			return rs[0].Status < 300, nil
		case g.Reason == collectors.Absent:
			return false, nil
		default:
			return false, g
		}
	},
}

// WhatKind tells the distribution from versions, nodes and pods.
var WhatKind = &collectors.Fact[Identity]{
	ID:      "cluster.identity",
	Doc:     "which distribution of Kubernetes this is",
	Needs:   []collectors.Any{Version, NodeSummary, openShift},
	Targets: collectors.Single(Self),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Identity, error) {
		if oc, _ := openShift.One(s); oc {
			return Identity{Distribution: OpenShift}, nil
		}
		v, gap := Version.One(s)
		if gap != nil {
			return Identity{}, gap
		}
		n, _ := NodeSummary.One(s) // a user who may not list nodes still gets what the version tells
		return identify(v, n), nil
	},
}

// identify goes from what a distribution writes into its own version, through
// what it writes on nodes, to the resemblance with kubeadm.
func identify(v Release, n Nodes) Identity {
	has := func(s string) bool { return strings.Contains(v.Git, s) }
	switch {
	case has("-eks-"):
		return Identity{Distribution: EKS}
	case has("-gke."):
		return Identity{Distribution: GKE}
	case has("+rke2"):
		return Identity{Distribution: RKE2}
	case has("+k3s"):
		return Identity{Distribution: K3s, Embedded: true, SQL: n.Count > 0 && !n.EtcdRole}
	case strings.Contains(n.OSImage, "Talos"):
		return Identity{Distribution: Talos}
	case n.Provider == "kind":
		return Identity{Distribution: Kind}
	case len(n.ControlPlane) > 0:
		return Identity{Distribution: Kubeadm}
	case n.Count > 0 && n.Provider == "azure":
		return Identity{Distribution: AKS}
	}
	return Identity{Distribution: Other}
}
