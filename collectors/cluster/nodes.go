package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Nodes is what the list of nodes says of the cluster as a whole.
type Nodes struct {
	Count        int
	Ready        int
	ControlPlane []string          // names of the nodes with the control-plane role
	Addresses    map[string]string // internal IP → name, of those nodes
	EtcdRole     bool              // some node has the label node-role.kubernetes.io/etcd
	Provider     string            // the scheme of the nodes' providerID: "aws", "kind"; empty if none has one
	OSImage      string            // of the first node
	Zones        map[string]string // of the nodes of the control plane; empty for one without a zone
	Open         []string          // nodes of the control plane that keep no ordinary pod away
}

// NodeSummary counts the nodes and names those of the control plane.
var NodeSummary = &collectors.Fact[Nodes]{
	ID:      "cluster.nodes",
	Doc:     "how many nodes there are, and which of them run the control plane",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Nodes] {
		n := Nodes{Addresses: map[string]string{}, Zones: map[string]string{}}
		return collectors.Folder[Nodes]{
			Add:  func(_ int, o objects.Object) { n.add(o.(*corev1.Node)) },
			Done: func([]collectors.Answered) (Nodes, error) { return n, nil },
		}
	},
}

func (n *Nodes) add(o *corev1.Node) {
	n.Count++
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			n.Ready++
		}
	}
	if _, ok := o.Labels["node-role.kubernetes.io/etcd"]; ok {
		n.EtcdRole = true
	}
	if n.OSImage == "" {
		n.OSImage = o.Status.NodeInfo.OSImage
	}
	if scheme, _, ok := strings.Cut(o.Spec.ProviderID, "://"); ok && n.Provider == "" {
		n.Provider = scheme
	}
	_, cp := o.Labels["node-role.kubernetes.io/control-plane"]
	_, master := o.Labels["node-role.kubernetes.io/master"]
	if !cp && !master {
		return
	}
	n.ControlPlane = append(n.ControlPlane, o.Name)
	n.Zones[o.Name] = o.Labels[corev1.LabelTopologyZone]
	if !slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool {
		return strings.HasPrefix(t.Key, "node-role.kubernetes.io/") && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	}) && !o.Spec.Unschedulable {
		n.Open = append(n.Open, o.Name)
	}
	for _, a := range o.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			n.Addresses[a.Address] = o.Name
		}
	}
}

// fewNodes is up to how many nodes all pods are listed: some 20000 of them, in
// 40 pages. Beyond that it would take longer than the rest of a run and cost the
// API server more.
const fewNodes = 500

// TooMany is why not all pods of the cluster are listed; nil if they are. A fact
// that uses it needs NodeSummary.
func TooMany(s *collectors.Snapshot) *collectors.Gap {
	n, gap := NodeSummary.One(s)
	if gap == nil && n.Count > fewNodes {
		return collectors.Gapf(collectors.OutOfScope, "of %d nodes all pods are not listed, only of up to %d", n.Count, fewNodes)
	}
	return gap
}
