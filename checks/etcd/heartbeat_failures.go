package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed heartbeat_failures.md
var heartbeatFailuresDoc string

// HeartbeatFailures looks for a leader too busy to say that it is there.
var HeartbeatFailures = &checks.Check{
	ID:        "etcd-heartbeat-failures",
	Component: collectors.Etcd,
	Title:     "etcd's leader sends its heartbeats in time",
	Doc:       heartbeatFailuresDoc,
	Needs:     []collectors.Any{etcd.HeartbeatFailures},
	Remedies: []checks.Remedy{
		{Title: "on the leader's node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
		{Title: "see what the leader says of it", Command: "crictl logs --tail 200 $(crictl ps -q --name etcd) 2>&1 | grep -E 'heartbeat|slow fdatasync|overloaded'", Risk: checks.ReadOnly},
	},
	Run: heartbeatFailures,
}

const (
	heartbeatsLate   = 1 // in the window [exp]: etcd counts one only if it is late by a whole interval
	heartbeatsSource = "heuristic"
)

func heartbeatFailures(p *checks.Pass) {
	for m, g := range checks.Each(p, etcd.HeartbeatFailures) {
		judgeGrowth(p, m, etcd.HeartbeatFailures, g, heartbeatsLate, heartbeatsSource,
			"sent no heartbeat late", func(n float64) string { return "sent " + checks.Count(n, "heartbeat") + " late" },
			": followers that hear none for 1 s elect another leader")
	}
}

// judgeGrowth warns of a counter that grew in the window by a limit or more.
// What it counted before is told, and warns of nothing: it may be long over.
func judgeGrowth(p *checks.Pass, m collectors.Target, f collectors.Any, g etcd.Growth, limit float64, source, good string, bad func(float64) string, then string) {
	if !g.Watched {
		p.Unknown(m, collectors.Gapf(collectors.NotAsked, "whether it goes on is not known: %s; %.0f since the start", g.Why, g.Total))
		return
	}
	in := "in " + checks.Seconds(g.Elapsed)
	var v *checks.Verdict
	if g.Delta >= limit {
		v = p.Warn(m, "%s %s%s", bad(g.Delta), in, then)
	} else {
		v = p.OK(m, "%s %s; %.0f since the start", good, in, g.Total)
	}
	v.Saw(f, in, fmt.Sprintf("%.0f", g.Delta), fmt.Sprintf("%.0f", limit), source).
		Number("count", g.Delta).Number("window", g.Elapsed)
}
