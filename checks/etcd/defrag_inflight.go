package etcd

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed defrag_inflight.md
var defragInflightDoc string

// DefragInflight looks for members that serve nothing because they are being
// defragmented.
var DefragInflight = &checks.Check{
	ID:        "etcd-defrag-inflight",
	Component: collectors.Etcd,
	Title:     "no etcd member is being defragmented",
	Doc:       defragInflightDoc,
	Needs:     []collectors.Any{etcd.DefragMetrics, etcd.ServerMetrics},
	Remedies: []checks.Remedy{
		{Title: "wait, and do not restart it; on the node, see when it is done", Command: "crictl logs --tail 500 $(crictl ps -q --name etcd) 2>&1 | grep defragment", Risk: checks.ReadOnly},
		{Title: "see who started it", Command: "kubectl get cronjobs -A", Risk: checks.ReadOnly},
	},
	Run: defragInflight,
}

const (
	defragTime   = time.Minute // some 10 GB, on a decent disk [exp]
	defragSource = "heuristic"
)

func defragInflight(p *checks.Pass) {
	for m, d := range checks.Each(p, etcd.DefragMetrics) {
		sv, _ := checks.Of(p, etcd.ServerMetrics, m)
		role := ""
		if sv.IsLeader {
			role = "; it is the leader: writes wait, too"
		}
		var v *checks.Verdict
		switch {
		case d.Now && d.Before && d.Watched >= defragTime:
			v = p.Warn(m, "is being defragmented for %s or more, and serves nothing meanwhile%s", checks.Span(d.Watched), role)
		case d.Now:
			v = p.Info(m, "is being defragmented, and serves nothing meanwhile%s", role)
		case d.Before:
			v = p.Info(m, "was being defragmented while it was watched, and is done")
		default:
			v = p.OK(m, "is not being defragmented")
		}
		v.Saw(etcd.DefragMetrics, "in flight", fmt.Sprint(d.Now), "", defragSource)
		if sv.IsLeader {
			v.Mark("leader")
		}
	}
}
