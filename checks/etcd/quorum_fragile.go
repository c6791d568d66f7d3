package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed quorum_fragile.md
var quorumFragileDoc string

// QuorumFragile looks for a cluster that lost its spare members.
var QuorumFragile = &checks.Check{
	ID:        "etcd-quorum-fragile",
	Component: collectors.Etcd,
	Title:     "etcd can lose another voter",
	Doc:       quorumFragileDoc,
	Needs:     []collectors.Any{etcd.Votes},
	Remedies: []checks.Remedy{
		{Title: "bring the member back, or remove it before adding another", Command: "etcdctl member list -w table", Risk: checks.ReadOnly},
		{Title: "until then, reboot no control-plane node and save a snapshot", Command: "etcdctl snapshot save /var/tmp/etcd-$(date +%s).db --command-timeout=300s", Risk: checks.Safe},
	},
	Run: quorumFragile,
}

func quorumFragile(p *checks.Pass) {
	q, gap := checks.One(p, etcd.Votes)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	spare := q.Spare()
	var v *checks.Verdict
	switch {
	case q.Voters < 3:
		p.Nothing(etcd.Cluster, "with %s none may ever fail", voters(q.Voters))
		return
	case spare < 0:
		p.Nothing(etcd.Cluster, "%s: the quorum is lost already", q)
		return
	case spare == 0 && len(q.Down) > 0:
		v = p.Warn(etcd.Cluster, "%s: one more failure stops all writes; down: %s", q, checks.List(q.Down, 4))
	case len(q.Unsure) >= spare && len(q.Unsure) > 0:
		g := *q.Gap
		g.Detail = fmt.Sprintf("%s, and of %s nothing is known: %s", q, checks.List(q.Unsure, 4), g.Detail)
		p.Unknown(etcd.Cluster, &g)
		return
	case spare == 1:
		v = p.OK(etcd.Cluster, "%s: one may fail", q)
	default:
		v = p.OK(etcd.Cluster, "%s: %d may fail", q, spare)
	}
	v.Saw(etcd.Votes, "voters that may fail", fmt.Sprint(spare), "1", "heuristic").Number("spare", float64(spare)).Number("down", float64(len(q.Down)))
}

func voters(n int) string { return checks.Count(n, "voter") }
