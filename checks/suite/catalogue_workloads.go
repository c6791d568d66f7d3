package suite

import "github.com/ktriage/ktriage/checks"

// workloadsRules tells of the rules of section 2.9, workload controllers, that have no
// check of their own.
var workloadsRules = decisions{
	section: "2.9",
	open: []checks.ID{
		"deployment-replicas-mismatch",
		"statefulset-stuck",
		"daemonset-stuck",
		"job-stuck",
		"cronjob-missed",
		"endpoint-lag",
		"pvc-pending",
		"hpa-mismatch",
		"pdb-blocking",
		"quota-full",
		"gc-orphans",
	},
}
