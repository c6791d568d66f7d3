package suite

import "github.com/ktriage/ktriage/checks"

// logsClientsRules tells of the rules of section 3.3, clients' logs, that have no
// check of their own.
var logsClientsRules = decisions{
	section: "3.3",
	open: []checks.ID{
		"le-acquired",
		"refl-ended",
		"throttle",
		"sched-nofit",
		"sched-bind",
		"kcm-sync",
		"kcm-webhook",
		"kcm-ssa-conflict",
		"conn-refused",
		"cert-expired",
	},
}
