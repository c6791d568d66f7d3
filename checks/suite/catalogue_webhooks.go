package suite

import "github.com/ktriage/ktriage/checks"

// webhooksRules tells of the rules of section 2.11, admission webhooks, that have no
// check of their own.
var webhooksRules = decisions{
	section: "2.11",
	open: []checks.ID{
		"webhook-rejections-policy",
		"webhook-internal-error",
		"vap-errors",
		"podsecurity-denies",
	},
}
