package suite

import "github.com/ktriage/ktriage/checks"

// leasesRules tells of the rules of section 2.7, leases, that have no
// check of their own.
var leasesRules = decisions{
	section: "2.7",
	merged: []Merged{
		{"leader-election-slowpath", []checks.ID{"lease-renew-slow", "le-update"}, "shows what conflicting writes of a lease come to: one that is renewed late, and the line that says why"},
	},
	rejected: []Rejected{
		{"lease-legacy-lock", "client-go has no such locks since 0.24; a component that old has no Lease, which scheduler-no-leader and kcm-no-leader say, and it is advice that would cost reading ConfigMaps"},
		{"lease-clients-many", "in every cluster that is idle most writes are of leases, one every 10 s from each node: it is true of the healthy ones"},
	},
}
