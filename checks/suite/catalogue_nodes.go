package suite

import "github.com/ktriage/ktriage/checks"

// nodesRules tells of the rules of section 2.8, nodes, that have no
// check of their own.
var nodesRules = decisions{
	section: "2.8",
	open: []checks.ID{
		"node-unknown-all",
		"node-flapping",
		"node-kubelet-cert",
		"node-pleg",
		"node-taint-unreachable",
	},
}
