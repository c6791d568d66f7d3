package etcd

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed slow_read_index.md
var slowReadIndexDoc string

// SlowReadIndex looks for members whose consistent reads wait for the leader.
var SlowReadIndex = &checks.Check{
	ID:        "etcd-slow-read-index",
	Component: collectors.Etcd,
	Title:     "etcd's leader tells the others at once how far the cluster is",
	Doc:       slowReadIndexDoc,
	Needs:     slices.Concat([]collectors.Any{etcd.ReadIndexes}, suspects, load),
	Remedies: []checks.Remedy{
		{Title: "see who leads, and whether all follow it", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "on the leader's node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
	},
	Run: slowReadIndex,
}

const readIndexSource = "etcd: a read index that takes over 1 s counts as slow" // server/etcdserver/v3_server.go, retried every 500 ms

func slowReadIndex(p *checks.Pass) {
	for m, x := range checks.Each(p, etcd.ReadIndexes) {
		if !x.Slow.Watched {
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "%.0f slow since it started; whether reads wait now is not known: %s", x.Slow.Total, x.Slow.Why))
			continue
		}
		in := "in " + checks.Seconds(x.Slow.Elapsed)
		if n := x.Slow.Delta + x.Failed.Delta; n == 0 {
			p.OK(m, "no read waited long for the leader %s; %.0f did since it started", in, x.Slow.Total)
			continue
		}
		why, mark := short(p, m)
		v := marked(p.Warn(m, "reads waited for the leader for over a second %s %s, in vain %s%s", times(x.Slow.Delta), in, times(x.Failed.Delta), why), mark).
			Saw(etcd.ReadIndexes, "slow", fmt.Sprintf("%.0f", x.Slow.Delta), "0", readIndexSource).
			Saw(etcd.ReadIndexes, "failed", fmt.Sprintf("%.0f", x.Failed.Delta), "0", readIndexSource).
			Number("slow", x.Slow.Delta).Number("failed", x.Failed.Delta)
		loaded(p, v, m)
	}
}
