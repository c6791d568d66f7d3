package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed backup_contention.md
var backupContentionDoc string

// BackupContention looks whether nothing else writes much to the disk under etcd.
var BackupContention = &checks.Check{
	ID:        "host-backup-contention",
	Component: collectors.Host,
	Title:     "nothing else writes much to the disk under etcd",
	Doc:       backupContentionDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see who writes", Command: `iotop -oPa`, Risk: checks.ReadOnly},
		{Title: "let it give way", Command: `ionice -c3 -p PID`, Risk: checks.Safe},
	},
	Run: backupContention,
}

// muchBytes is worth telling: a tenth of what a SATA SSD takes [exp].
const muchBytes = 20 << 20

func backupContention(p *checks.Pass) {
	t, io, ok := judgedDisk(p)
	if !ok {
		return
	}
	if io.busiest == "" {
		p.OK(t, "no process but etcd writes more than %s/s", checks.Bytes(muchBytes)).Saw(host.Loads, "writers", "", "", "")
		return
	}
	p.Info(t, "%s writes on this machine, which etcd's disk may have to share", io.busiest).Saw(host.Loads, "writes most", io.busiest, checks.Bytes(muchBytes)+"/s", "heuristic")
}
