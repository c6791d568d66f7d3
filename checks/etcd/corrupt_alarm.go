package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed corrupt_alarm.md
var corruptAlarmDoc string

// CorruptAlarm looks for the alarm by which etcd says that its members hold
// different data.
var CorruptAlarm = &checks.Check{
	ID:        "etcd-corrupt-alarm",
	Component: collectors.Etcd,
	Title:     "etcd has not raised CORRUPT",
	Doc:       corruptAlarmDoc,
	Needs:     []collectors.Any{etcd.RaisedAlarms},
	Remedies: []checks.Remedy{
		{Title: "find the member whose data differs: the hash of the minority is wrong", Command: "etcdctl endpoint hashkv --cluster -w table", Risk: checks.ReadOnly},
		{Title: "copy the data of every member before changing anything", Command: "cp -a /var/lib/etcd /var/lib/etcd.$(date +%s)", Risk: checks.Safe},
		{Title: "replace the wrong member: remove it, empty its data directory, add it again", Command: "etcdctl member remove MEMBER_ID", Risk: checks.Dangerous},
	},
	Run: corruptAlarm,
}

func corruptAlarm(p *checks.Pass) {
	alarm(p, etcd.Corrupt, "members hold different data, and every read and write is refused", "etcd documentation, data corruption")
}
