package topology

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/topology"
)

//go:embed backup_unseen.md
var backupUnseenDoc string

// BackupUnseen tells whether anything that makes backups is to be seen.
var BackupUnseen = &checks.Check{
	ID:        "ha-backup-unseen",
	Component: collectors.Topology,
	Title:     "somebody makes backups of etcd",
	Doc:       backupUnseenDoc,
	Needs:     []collectors.Any{cluster.NodeSummary, topology.Backups},
	Remedies: []checks.Remedy{
		{Title: "make one now, where etcd's certificates are", Command: "ETCDCTL_API=3 etcdctl snapshot save /var/backups/etcd-$(date +%F).db --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key", Risk: checks.Safe},
		{Title: "see that it can be read", Command: "etcdutl snapshot status /var/backups/etcd-$(date +%F).db -w table", Risk: checks.ReadOnly},
	},
	Run: backupUnseen,
}

func backupUnseen(p *checks.Pass) {
	t := target("backup")
	if _, ok := own(p, t); !ok {
		return
	}
	b, gap := checks.One(p, topology.Backups)
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case len(b) == 0:
		p.Info(t, "no CronJob is to be seen that makes backups of etcd; what runs on the nodes or outside is not")
	default:
		p.OK(t, "%s may make backups: %s", checks.Count(len(b), "CronJob"), checks.List(b, 3)).Saw(topology.Backups, "CronJobs", checks.List(b, 5), "", "")
	}
}
