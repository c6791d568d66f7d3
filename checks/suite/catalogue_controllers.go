package suite

import "github.com/ktriage/ktriage/checks"

// controllersRules tells of the rules of section 2.5, controller manager, that have no
// check of their own.
var controllersRules = decisions{
	section: "2.5",
	open: []checks.ID{
		"kcm-work-latency",
		"kcm-controller-not-running",
		"kcm-gc-sync-errors",
		"kcm-terminating-pods",
		"kcm-hpa-failing",
		"kcm-cronjob-skew",
		"kcm-node-cidr-exhausted",
		"kcm-eviction-rate",
		"kcm-attach-detach",
		"kcm-podgc-force-deletes",
		"kcm-informer-lag",
		"kcm-default-objects-missing",
	},
}
