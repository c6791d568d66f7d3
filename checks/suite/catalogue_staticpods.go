package suite

import "github.com/ktriage/ktriage/checks"

// staticpodsRules tells of the rules of section 2.16, static pods, that have no
// check of their own.
var staticpodsRules = decisions{
	section: "2.16",
	open: []checks.ID{
		"static-pod-missing",
		"static-pod-probe-failing",
		"static-pod-qos",
		"static-pod-mirror-stale",
	},
}
