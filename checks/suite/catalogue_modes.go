package suite

import "github.com/ktriage/ktriage/checks"

// modesRules tells of the rules of section 2.17, distributions, that have no
// check of their own.
var modesRules = decisions{
	section: "2.17",
	open: []checks.ID{
		"mode-managed",
		"mode-k3s-sqlite",
		"mode-k3s-etcd",
		"mode-k3s-merged-metrics",
		"mode-rke2",
		"mode-openshift",
		"mode-talos",
		"mode-microk8s",
		"mode-kind",
	},
}
