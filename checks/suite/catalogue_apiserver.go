package suite

import "github.com/ktriage/ktriage/checks"

// apiserverRules tells of the rules of section 2.1, API server, that have no
// check of their own.
var apiserverRules = decisions{
	section: "2.1",
	merged: []Merged{
		{"apiserver-panic", []checks.ID{"apiserver-aborts", "apiserver-log-panic"}, "warns of handlers that panicked, which the same counter tells, and of panics in the log"},
	},
	rejected: []Rejected{
		{"apiserver-cpu-throttled", "throttling is told by the kubelet's cAdvisor metrics only, a body of megabytes behind the right nodes/proxy, by which one can run commands in every pod of the node; ktriage does not ask for that"},
	},
}
