package suite

import "github.com/ktriage/ktriage/checks"

// logsEtcdRules tells of the rules of section 3.1, etcd's log, that have no
// check of their own.
var logsEtcdRules = decisions{
	section: "3.1",
	open: []checks.ID{
		"etcd-log-leader-changed",
		"etcd-log-defrag",
		"etcd-log-compaction",
		"etcd-log-snapshot-slow",
		"etcd-log-quota-max",
		"etcd-log-expensive-unary",
	},
}
