package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed nospace_alarm.md
var nospaceAlarmDoc string

// NoSpaceAlarm looks for the alarm under which etcd refuses every write.
var NoSpaceAlarm = &checks.Check{
	ID:        "etcd-nospace-alarm",
	Component: collectors.Etcd,
	Title:     "etcd has not raised NOSPACE",
	Doc:       nospaceAlarmDoc,
	Needs:     []collectors.Any{etcd.RaisedAlarms},
	Remedies: []checks.Remedy{
		{Title: "see what the way out would do: compact, defragment, take the alarm back", Command: "ktriage plan etcd-nospace", Risk: checks.ReadOnly, Recipe: "etcd-nospace"},
		{Title: "save a snapshot first, while it is still small", Command: "etcdctl snapshot save /var/tmp/etcd-$(date +%s).db --command-timeout=300s", Risk: checks.Safe},
		{Title: "find what fills the store", Command: "ktriage etcd top", Risk: checks.ReadOnly},
	},
	Run: nospaceAlarm,
}

func nospaceAlarm(p *checks.Pass) {
	a, gap := checks.One(p, etcd.RaisedAlarms)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	members, raised := a.Of(etcd.NoSpace)
	switch {
	case raised:
		p.Critical(etcd.Cluster, "NOSPACE is raised%s: every write is refused until the alarm is taken back, whatever the size is now", by(members)).
			Saw(a.From, "alarms", etcd.NoSpace, "none", "etcd documentation, maintenance")
	case a.Hidden:
		p.Unknown(etcd.Cluster, collectors.Gapf(collectors.Absent, "another alarm is raised, and the health endpoint tells only one").With(etcd.Remedy))
	default:
		p.OK(etcd.Cluster, "NOSPACE is not raised").
			Saw(a.From, "alarms", "none", "none", "etcd documentation, maintenance")
	}
}

func by(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return " by " + checks.List(members, 5)
}
