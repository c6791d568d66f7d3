package suite

import "github.com/ktriage/ktriage/checks"

// topologyRules tells of the rules of section 2.14, topology, that have no
// check of their own.
var topologyRules = decisions{
	section: "2.14",
	open: []checks.ID{
		"ha-single-control-plane",
		"ha-even-etcd",
		"ha-endpoints-mismatch",
		"ha-lb-backend-down",
		"ha-component-replicas",
		"ha-colocated-zone",
		"ha-flag-drift",
		"ha-version-skew",
		"ha-cp-cpu-headroom",
		"ha-etcd-external-single-endpoint",
	},
}
