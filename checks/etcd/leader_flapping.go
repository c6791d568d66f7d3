package etcd

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed leader_flapping.md
var leaderFlappingDoc string

// LeaderFlapping looks for elections, each of which stops all writes for a
// second or two.
var LeaderFlapping = &checks.Check{
	ID:        "etcd-leader-flapping",
	Component: collectors.Etcd,
	Title:     "etcd's leader stays",
	Doc:       leaderFlappingDoc,
	Needs:     []collectors.Any{etcd.LeaderChanges},
	Remedies: []checks.Remedy{
		{Title: "on the nodes, see what came before the elections", Command: "crictl logs --since 1h $(crictl ps -q --name etcd) 2>&1 | grep -E 'elected|lost leader|heartbeat|slow fdatasync|took too long|lost TCP'", Risk: checks.ReadOnly},
		{Title: "see how fast the disk syncs", Command: "fio --name=wal --rw=write --ioengine=sync --fdatasync=1 --bs=2300 --size=22m --directory=/var/lib/etcd", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{flappingChangesAt},
	Run:        leaderFlapping,
}

const (
	// flappingChanges is how many changes while we watch are too many. One in
	// seconds is far above the 4 in 15 minutes of etcd-mixin's
	// etcdHighNumberOfLeaderChanges, so it ends at warning [exp].
	flappingChanges = 1
	flappingSource  = "etcd-mixin etcdHighNumberOfLeaderChanges: 4 in 15 min"

	// unrestAnHour is from which rate over a process's life, the first
	// election left out, its past is worth mention [exp]; unrestChanges is
	// etcd-mixin's number, and unrestUptime keeps the elections of a cluster's
	// first hour from counting.
	unrestAnHour  = 1.0
	unrestChanges = 4
	unrestUptime  = time.Hour
)

var flappingChangesAt = checks.NewThreshold("warn", checks.InNumber, flappingChanges, "changes of leader in the window", flappingSource)

func leaderFlapping(p *checks.Pass) {
	answers, gap := checks.All(p, etcd.LeaderChanges)
	// Each change is seen by all members: the one that saw most tells, in the
	// window, and over its life.
	var now, ever struct {
		name string
		etcd.Growth
	}
	for _, a := range answers {
		switch g := a.Value; {
		case a.Gap != nil:
			if gap == nil {
				gap = a.Gap
			}
			continue
		case !g.Watched:
			gap = collectors.Gapf(collectors.NotAsked, "whether the leader changed now is not known: %s", g.Why)
		case now.name == "" || g.Delta > now.Delta:
			now.name, now.Growth = a.Target.Name, g
		}
		if ever.name == "" || a.Value.Total > ever.Total {
			ever.name, ever.Growth = a.Target.Name, a.Value
		}
	}
	if now.name == "" {
		if gap == nil {
			gap = collectors.Gapf(collectors.NotAsked, "there is no member to ask")
		}
		p.Unknown(etcd.Cluster, gap)
		return
	}
	window := checks.Seconds(now.Elapsed)
	past := fmt.Sprintf("%s since %s started", checks.Count(ever.Total, "change"), ever.name)
	if ever.Uptime > 0 {
		past += " " + checks.Span(time.Duration(ever.Uptime*1e9)) + " ago"
	}
	var v *checks.Verdict
	switch {
	case now.Delta >= p.At(flappingChangesAt):
		v = p.Warn(etcd.Cluster, "the leader changed %s in %s: writes stop each time", times(now.Delta), window)
	case ever.Uptime >= unrestUptime.Seconds() && ever.Total-1 >= unrestChanges && (ever.Total-1)/(ever.Uptime/3600) > unrestAnHour:
		v = p.Info(etcd.Cluster, "the leader did not change in %s, but often before: %s", window, past)
	default:
		v = p.OK(etcd.Cluster, "the leader did not change in %s; %s", window, past)
	}
	v.Saw(etcd.LeaderChanges, "changes in "+window, fmt.Sprint(now.Delta), fmt.Sprint(p.At(flappingChangesAt)), flappingSource).
		Saw(etcd.LeaderChanges, "changes", past, "", "").
		Number("changes", now.Delta).Number("window", now.Elapsed)
}

func times(n float64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%.0f times", n)
}
