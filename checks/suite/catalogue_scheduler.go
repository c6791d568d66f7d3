package suite

import "github.com/ktriage/ktriage/checks"

// schedulerRules tells of the rules of section 2.4, scheduler, that have no
// check of their own.
var schedulerRules = decisions{
	section: "2.4",
	merged: []Merged{
		{"scheduler-unknown-profile", []checks.ID{"pod-pending-no-condition"}, "names the scheduler that the pods ask for and nobody serves"},
	},
}
