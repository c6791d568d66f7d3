package suite

import "github.com/ktriage/ktriage/checks"

// etcdRules tells of the rules of section 2.3, etcd, that have no
// check of their own.
var etcdRules = decisions{
	section: "2.3",
	merged: []Merged{
		{"etcd-clock-drift", []checks.ID{"etcd-log-clock-drift"}, "etcd tells the drift of its peers' clocks in its log only, above 1 s"},
		{"etcd-data-disk-full", []checks.ID{"node-pressure", "etcd-log-disk-full"}, "the kubelet says DiskPressure of the node, and etcd itself logs the write that failed; how full the disk is no endpoint of etcd tells"},
	},
	rejected: []Rejected{
		{"etcd-backup-stale", "no object of the cluster says where backups go or that one succeeded: a guess by a CronJob's name would be wrong both ways, for it misses backups made outside and trusts jobs that save nothing"},
	},
}
