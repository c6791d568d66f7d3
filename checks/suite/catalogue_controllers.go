package suite

import "github.com/ktriage/ktriage/checks"

// controllersRules tells of the rules of section 2.5, controller manager, that have no
// check of their own.
var controllersRules = decisions{
	section: "2.5",
	merged: []Merged{
		{"kcm-cronjob-skew", []checks.ID{"cronjob-missed"}, "looks at the CronJobs themselves and names the one that is late; the histogram also holds the catching up after every start"},
	},
}
