package suite

import "github.com/ktriage/ktriage/checks"

// ccmRules tells of the rules of section 2.6, cloud controller manager, that have no
// check of their own.
var ccmRules = decisions{
	section: "2.6",
	open: []checks.ID{
		"ccm-down",
		"ccm-lb-pending",
		"ccm-cloud-api-errors",
		"ccm-node-sync-delay",
		"ccm-routes",
	},
}
