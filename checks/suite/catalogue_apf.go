package suite

import "github.com/ktriage/ktriage/checks"

// apfRules tells of the rules of section 2.2, API Priority and Fairness, that have no
// check of their own.
var apfRules = decisions{
	section: "2.2",
	open: []checks.ID{
		"apf-catch-all-used",
		"apf-config-drift",
	},
}
