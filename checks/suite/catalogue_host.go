package suite

import "github.com/ktriage/ktriage/checks"

// hostRules tells of the rules of section 2.15, host, that have no
// check of their own.
var hostRules = decisions{
	section: "2.15",
	open: []checks.ID{
		"host-disk-latency",
		"host-disk-saturated",
		"host-disk-full",
		"host-inodes",
		"host-cpu-busy",
		"host-iowait",
		"host-steal",
		"host-memory",
		"host-psi",
		"host-oom",
		"host-clock",
		"host-conntrack",
		"host-fd",
		"host-net-errs",
		"host-etcd-fs-type",
		"host-cpu-governor",
		"host-backup-contention",
	},
}
