package suite

import "github.com/ktriage/ktriage/checks"

// topologyRules tells of the rules of section 2.14, topology, that have no
// check of their own.
var topologyRules = decisions{
	section: "2.14",
	merged: []Merged{
		{"ha-even-etcd", []checks.ID{"etcd-even-or-single"}, "counts the voters that etcd lists"},
		{"ha-lb-backend-down", []checks.ID{"apiserver-unreachable"}, "asks every API server at its own address beside the one in front, and says which of them does not answer"},
	},
	rejected: []Rejected{
		{"ha-cp-cpu-headroom", "the CPU use of nodes over ten minutes is in no API that every cluster has; the host checks judge the node that ktriage runs on"},
	},
}
