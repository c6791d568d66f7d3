package suite

import "github.com/ktriage/ktriage/checks"

// podsRules tells of the rules of section 2.10, pending pods, that have no
// check of their own.
var podsRules = decisions{
	section: "2.10",
	open: []checks.ID{
		"pod-pending-unschedulable",
		"pod-pending-gated",
		"pod-pending-volume",
		"pod-pending-preempting",
		"pod-creating-stuck",
		"pod-crashloop",
	},
}
