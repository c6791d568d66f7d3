package etcd

import (
	_ "embed"
	"fmt"

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
	Needs:     []collectors.Any{etcd.RaisedAlarms, etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "see which member raised it, and how full each is", Command: "etcdctl alarm list && etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly, Recipe: "etcd-nospace"},
		{Title: "save a snapshot first, while it is still small", Command: "etcdctl snapshot save /var/tmp/etcd-$(date +%s).db --command-timeout=300s", Risk: checks.Safe},
		{Title: "make room: drop the history, then give the pages back, one member at a time", Command: "etcdctl compact --physical $(etcdctl endpoint status -w json | jq '.[0].Status.header.revision') --command-timeout=300s && etcdctl defrag --endpoints=https://MEMBER:2379 --command-timeout=300s", Risk: checks.Disruptive},
		{Title: "when every member is below its quota, and no CORRUPT alarm stands beside it, take the alarm back", Command: "etcdctl alarm disarm && etcdctl alarm list", Risk: checks.Safe},
	},
	Run: nospaceAlarm,
}

func nospaceAlarm(p *checks.Pass) {
	alarm(p, etcd.NoSpace, "every write is refused until the alarm is taken back, whatever the size is now"+howFull(p), "etcd documentation, maintenance")
}

// howFull says how full the databases are now, if that is known: whether there
// is room to make first, or only an alarm to take back.
func howFull(p *checks.Pass) string {
	answers, _ := checks.All(p, etcd.DB)
	least, most, known := 0.0, 0.0, 0
	for _, a := range answers {
		if a.Gap != nil || a.Value.Quota <= 0 {
			continue
		}
		used := float64(a.Value.Size) / float64(a.Value.Quota)
		if known == 0 || used < least {
			least = used
		}
		most = max(most, used)
		known++
	}
	switch {
	case known == 0:
		return ""
	case checks.Percent(least) == checks.Percent(most):
		return fmt.Sprintf(" (%s of the quota)", checks.Percent(most))
	}
	return fmt.Sprintf(" (%s to %s of the quota)", checks.Percent(least), checks.Percent(most))
}

// alarm judges whether an alarm is raised, and says what that means.
func alarm(p *checks.Pass, name, means, source string) {
	a, gap := checks.One(p, etcd.RaisedAlarms)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	members, raised := a.Of(name)
	switch {
	case raised:
		p.Critical(etcd.Cluster, "%s is raised%s: %s", name, by(members), means).Saw(a.From, "alarms", name, "none", source)
	case a.Hidden:
		p.Unknown(etcd.Cluster, collectors.Gapf(collectors.Absent, "another alarm is raised, and the health endpoint tells only one").With(etcd.Remedy))
	default:
		p.OK(etcd.Cluster, "%s is not raised", name).Saw(a.From, "alarms", "none", "none", source)
	}
}

func by(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return " by " + checks.List(members, 5)
}
