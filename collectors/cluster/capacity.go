package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Capacity is how large a machine is.
type Capacity struct {
	Memory     float64 // bytes
	Processors float64
}

// Machines is how large the control plane's nodes are, by name. Of other nodes
// nobody asks.
var Machines = &collectors.Fact[map[string]Capacity]{
	ID:      "cluster.machines",
	Doc:     "memory and processors of the control plane's nodes",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[map[string]Capacity] {
		out := map[string]Capacity{}
		return collectors.Folder[map[string]Capacity]{
			Add: func(_ int, o objects.Object) {
				n := o.(*corev1.Node)
				_, cp := n.Labels["node-role.kubernetes.io/control-plane"]
				_, master := n.Labels["node-role.kubernetes.io/master"]
				_, etcd := n.Labels["node-role.kubernetes.io/etcd"]
				if !cp && !master && !etcd {
					return
				}
				mem, cpu := n.Status.Capacity[corev1.ResourceMemory], n.Status.Capacity[corev1.ResourceCPU]
				out[n.Name] = Capacity{float64(mem.Value()), cpu.AsApproximateFloat64()}
			},
			Done: func([]collectors.Answered) (map[string]Capacity, error) { return out, nil },
		}
	},
}
