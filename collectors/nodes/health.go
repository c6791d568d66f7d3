package nodes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Node is one that is in trouble.
type Node struct {
	Name         string
	Since        time.Time // of its condition
	Created      time.Time
	Silent       bool // its kubelet has not been heard of: Ready is Unknown
	Cordoned     bool // somebody has taken it out of service
	Virtual      bool // it is no machine: another service runs its pods
	ControlPlane bool
	Condition    string // "Ready", "DiskPressure"
	Message      string
}

// A Zone counts the nodes of one.
type Zone struct{ All, Silent int }

// Health is what the nodes' conditions say.
type Health struct {
	All       int
	Silent    int    // nodes whose Ready is Unknown
	NotReady  []Node // those that are not ready, the first to be so first; at most maxKept
	Failing   int    // how many there are
	Pressure  []Node // those that are short of something, as NotReady
	Pressed   int
	Unrouted  []Node // those that have no network, as NotReady
	Routeless int
	Changed   []Node // ready ones, the latest to become so first; at most maxKept
	Zones     map[string]Zone
	Kubelets  map[string]Kubelet // by version
}

// A Kubelet is the nodes that run one version of it.
type Kubelet struct {
	Nodes   int
	Example string
}

// maxDistinct bounds zones and versions; there are a few.
const maxDistinct = 100

// Conditions is what the nodes' conditions say. It shares its list with
// cluster.nodes.
var Conditions = &collectors.Fact[Health]{
	ID:      "nodes.conditions",
	Doc:     "which nodes are not ready or short of something, and which versions their kubelets have",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Health] {
		h := Health{Zones: map[string]Zone{}, Kubelets: map[string]Kubelet{}}
		return collectors.Folder[Health]{
			Add:  func(_ int, o objects.Object) { h.add(o.(*corev1.Node)) },
			Done: func([]collectors.Answered) (Health, error) { return h, nil },
		}
	},
}

func (h *Health) add(o *corev1.Node) {
	h.All++
	zone := o.Labels[corev1.LabelTopologyZone]
	z, known := h.Zones[zone]
	z.All++
	ready := false
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue:
			ready = true
			h.Changed = latest(h.Changed, newNode(o, c))
		case c.Type == corev1.NodeNetworkUnavailable && c.Status == corev1.ConditionTrue:
			h.Routeless++
			h.Unrouted = keep(h.Unrouted, newNode(o, c))
		case c.Type == corev1.NodeReady:
			n := newNode(o, c)
			if n.Silent {
				h.Silent++
				z.Silent++
			}
			h.Failing++
			h.NotReady = keep(h.NotReady, n)
			ready = true // it has said so
		case pressures[c.Type] && c.Status == corev1.ConditionTrue:
			h.Pressed++
			h.Pressure = keep(h.Pressure, newNode(o, c))
		}
	}
	if !ready { // a node that has just registered has no conditions yet
		h.Failing++
		h.NotReady = keep(h.NotReady, newNode(o, corev1.NodeCondition{Type: corev1.NodeReady, Message: "no condition Ready", LastTransitionTime: o.CreationTimestamp}))
	}
	if known || len(h.Zones) < maxDistinct {
		h.Zones[strings.Clone(zone)] = z
	}
	if virtualKubelet(o) {
		return // it says the version of something else
	}
	v := o.Status.NodeInfo.KubeletVersion
	k, known := h.Kubelets[v]
	if k.Nodes++; k.Example == "" {
		k.Example = strings.Clone(o.Name)
	}
	if known || len(h.Kubelets) < maxDistinct {
		h.Kubelets[strings.Clone(v)] = k
	}
}

var pressures = map[corev1.NodeConditionType]bool{corev1.NodeMemoryPressure: true, corev1.NodeDiskPressure: true, corev1.NodePIDPressure: true}

func newNode(o *corev1.Node, c corev1.NodeCondition) Node {
	_, cp := o.Labels["node-role.kubernetes.io/control-plane"]
	_, master := o.Labels["node-role.kubernetes.io/master"]
	return Node{
		Name: strings.Clone(o.Name), Since: c.LastTransitionTime.Time, Created: o.CreationTimestamp.Time,
		Silent: c.Status == corev1.ConditionUnknown, Cordoned: o.Spec.Unschedulable, ControlPlane: cp || master,
		Virtual:   virtualKubelet(o) || o.Labels["eks.amazonaws.com/compute-type"] == "fargate",
		Condition: string(c.Type), Message: collectors.OneLine(c.Message, maxMessage),
	}
}

// virtualKubelet reports whether the node is one of virtual-kubelet's, by the
// label and the taint that it gives them.
func virtualKubelet(o *corev1.Node) bool {
	return o.Labels["type"] == "virtual-kubelet" ||
		slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "virtual-kubelet.io/provider" })
}

// keep adds a node to those that are kept, the longest in trouble first.
func keep(ns []Node, n Node) []Node {
	ns = append(ns, n)
	slices.SortFunc(ns, func(a, b Node) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name)) })
	return ns[:min(len(ns), maxKept)]
}

// latest is keep for those that changed last.
func latest(ns []Node, n Node) []Node {
	ns = append(ns, n)
	slices.SortFunc(ns, func(a, b Node) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Name, b.Name)) })
	return ns[:min(len(ns), maxKept)]
}

const maxMessage = 300
