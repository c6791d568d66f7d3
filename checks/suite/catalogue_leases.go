package suite

import "github.com/ktriage/ktriage/checks"

// leasesRules tells of the rules of section 2.7, leases, that have no
// check of their own.
var leasesRules = decisions{
	section: "2.7",
	open: []checks.ID{
		"lease-legacy-lock",
		"apiserver-identity-lease-stale",
		"leader-election-slowpath",
		"lease-clients-many",
	},
}
