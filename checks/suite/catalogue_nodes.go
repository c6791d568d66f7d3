package suite

import "github.com/ktriage/ktriage/checks"

// nodesRules tells of the rules of section 2.8, nodes, that have no
// check of their own.
var nodesRules = decisions{
	section: "2.8",
	merged: []Merged{
		{"node-unknown-all", []checks.ID{"nodes-mass-notready"}, "is critical from 55% of the nodes on, all of them included, and names what they share"},
		{"node-pleg", []checks.ID{"node-notready"}, "carries the kubelet's own message, such as PLEG is not healthy, which it gives long before 15 minutes"},
		{"node-taint-unreachable", []checks.ID{"node-notready", "node-lifecycle-lag"}, "tells of the node that is not reached, for which the taint stands; where it does not stand for one, the controller is behind"},
	},
	rejected: []Rejected{
		{"node-kubelet-cert", "it takes a request per node through nodes/proxy, a right that amounts to root on every node; renewal that fails shows as a request for a certificate that nobody signs (node-csr-pending)"},
	},
}
