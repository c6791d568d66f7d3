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
	Needs:     append([]collectors.Any{etcd.HeartbeatFailures}, suspects...),
	Remedies: []checks.Remedy{
		{Title: "on the leader's node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
		{Title: "see what the leader says of it", Command: "crictl logs --tail 200 $(crictl ps -q --name etcd) 2>&1 | grep -E 'heartbeat|slow fdatasync|overloaded'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{heartbeatsLateAt},
	Run:        heartbeatFailures,
}

const (
	// heartbeatsLate in the window is more than one stall, which counts once
	// for each follower, in a cluster of up to five [exp].
	heartbeatsLate   = 5
	heartbeatsSource = "heuristic"
)

var heartbeatsLateAt = checks.NewThreshold("warn", checks.InNumber, heartbeatsLate, "heartbeats sent late in the window", heartbeatsSource)

func heartbeatFailures(p *checks.Pass) {
	for m, g := range checks.Each(p, etcd.HeartbeatFailures) {
		why, mark := "", ""
		if g.Delta > 0 {
			why, mark = short(p, m)
		}
		v := judgeGrowth(p, m, etcd.HeartbeatFailures, g, p.At(heartbeatsLateAt), heartbeatsSource,
			"sent no heartbeat late", func(n float64) string { return "sent " + checks.Count(n, "heartbeat") + " late" },
			why+"; followers that hear none for 1 s elect another leader")
		if v != nil {
			marked(v, mark)
		}
	}
}

// judgeGrowth warns of a counter that grew in the window by a limit or more;
// less is advice. What it counted before is told only: it may be long over.
// Without a verdict it returns nil.
func judgeGrowth(p *checks.Pass, m collectors.Target, f collectors.Any, g etcd.Growth, limit float64, source, good string, bad func(float64) string, then string) *checks.Verdict {
	if !g.Watched {
		p.Unknown(m, collectors.Gapf(collectors.NotAsked, "whether it goes on is not known: %s; %.0f since the start", g.Why, g.Total))
		return nil
	}
	in := "in " + checks.Seconds(g.Elapsed)
	var v *checks.Verdict
	switch {
	case g.Delta >= limit:
		v = p.Warn(m, "%s %s%s", bad(g.Delta), in, then)
	case g.Delta > 0:
		v = p.Info(m, "%s %s; %.0f since the start", bad(g.Delta), in, g.Total)
	default:
		v = p.OK(m, "%s %s; %.0f since the start", good, in, g.Total)
	}
	return v.Saw(f, in, fmt.Sprintf("%.0f", g.Delta), fmt.Sprintf("%.0f", limit), source).
		Number("count", g.Delta).Number("window", g.Elapsed)
}
