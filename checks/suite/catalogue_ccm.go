package suite

import "github.com/ktriage/ktriage/checks"

// ccmRules tells of the rules of section 2.6, cloud controller manager, that have no
// check of their own.
var ccmRules = decisions{
	section: "2.6",
	merged: []Merged{
		{"ccm-down", []checks.ID{"lease-expired", "ccm-uninitialized-nodes", "ccm-lb-pending"}, "is critical for the lease cloud-controller-manager that nobody renews; the others tell of the nodes and Services that wait for it"},
		{"ccm-node-sync-delay", []checks.ID{"ccm-uninitialized-nodes"}, "tells for how long the nodes have waited, without asking the cloud controller manager"},
	},
	rejected: []Rejected{
		{"ccm-cloud-api-errors", "each cloud names its metrics otherwise and none publishes a list; what fails shows on nodes and Services (ccm-uninitialized-nodes, ccm-lb-pending)"},
	},
}
