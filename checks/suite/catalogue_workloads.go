package suite

import "github.com/ktriage/ktriage/checks"

// workloadsRules tells of the rules of section 2.9, workload controllers, that have no
// check of their own.
var workloadsRules = decisions{
	section: "2.9",
	merged: []Merged{
		{"hpa-mismatch", []checks.ID{"kcm-hpa-failing"}, "tells why an autoscaler does not scale, which is what keeps the wished for and the actual number apart"},
	},
}
