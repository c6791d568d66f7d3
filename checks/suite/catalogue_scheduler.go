package suite

import "github.com/ktriage/ktriage/checks"

// schedulerRules tells of the rules of section 2.4, scheduler, that have no
// check of their own.
var schedulerRules = decisions{
	section: "2.4",
	open: []checks.ID{
		"scheduler-backoff-queue",
		"scheduler-plugin-slow",
		"scheduler-preemption-storm",
		"scheduler-stale-cache",
		"scheduler-client-throttled",
		"scheduler-unknown-profile",
	},
}
