package suite

import "github.com/ktriage/ktriage/checks"

// etcdRules tells of the rules of section 2.3, etcd, that have no
// check of their own.
var etcdRules = decisions{
	section: "2.3",
	open: []checks.ID{
		"etcd-snapshot-fsync-slow",
		"etcd-grpc-failures",
		"etcd-peer-failures",
		"etcd-slow-read-index",
		"etcd-hash-divergence",
		"etcd-db-growth",
		"etcd-snapshot-transfer",
		"etcd-watch-backlog",
		"etcd-open-read-txns",
		"etcd-clock-drift",
		"etcd-memory-high",
		"etcd-data-disk-full",
		"etcd-corruption-check-off",
		"etcd-auto-compaction-conflict",
		"etcd-shared-with-others",
		"etcd-backup-stale",
	},
}
