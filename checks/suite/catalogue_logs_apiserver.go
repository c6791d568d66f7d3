package suite

import "github.com/ktriage/ktriage/checks"

// logsAPIServerRules tells of the rules of section 3.2, API server's log, that have no
// check of their own.
var logsAPIServerRules = decisions{
	section: "3.2",
	open: []checks.ID{
		"apiserver-log-etcd-start",
		"apiserver-log-webhook-reject",
		"apiserver-log-tls",
		"apiserver-log-compacted",
		"apiserver-log-lease-ep",
		"apiserver-log-oom-fork",
	},
}
