package etcd

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed quorum_lost.md
var quorumLostDoc string

// QuorumLost looks for a cluster that cannot agree on anything any more.
var QuorumLost = &checks.Check{
	ID:        "etcd-quorum-lost",
	Component: collectors.Etcd,
	Title:     "a majority of etcd's voters answers",
	Doc:       quorumLostDoc,
	Needs:     []collectors.Any{etcd.Votes},
	Remedies: []checks.Remedy{
		{Title: "bring back the members that are down: on each of their nodes, see why etcd does not run", Command: "crictl ps -a --name etcd && crictl logs --tail 50 $(crictl ps -aq --name etcd | head -1)", Risk: checks.ReadOnly},
		{Title: "copy the data of a member that is left, before anything else is tried", Command: "cp -a /var/lib/etcd /var/lib/etcd.$(date +%s)", Risk: checks.Safe},
		{Title: "only if a majority is gone for good, restore the last snapshot as a new cluster", Command: "etcdutl snapshot restore SNAPSHOT --data-dir /var/lib/etcd-new --bump-revision 1000000000 --mark-compacted", Risk: checks.Dangerous},
	},
	Run: quorumLost,
}

const quorumSource = "etcd-mixin etcdInsufficientMembers"

func quorumLost(p *checks.Pass) {
	q, gap := checks.One(p, etcd.Votes)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	down := len(q.Down) > q.Voters-q.Need()
	var v *checks.Verdict
	switch {
	case len(q.Answer)+len(q.Silent) >= q.Need():
		v = p.OK(etcd.Cluster, "%s", q)
	case q.Leader != "":
		v = p.OK(etcd.Cluster, "%s; %s has a leader, which takes a majority", q, q.Leader)
	case down:
		v = p.Critical(etcd.Cluster, "%s: no write and no consistent read is possible; down: %s", q, checks.List(q.Down, 4))
	case q.Reader != "":
		v = p.OK(etcd.Cluster, "%s; %s did a read that takes a majority", q, q.Reader)
	case q.Impossible():
		v = p.Critical(etcd.Cluster, "%s: no write and no consistent read is possible; no leader: %s; no answer: %s",
			q, checks.List(q.Leaderless, 4), checks.List(slices.Concat(q.Down, q.Silent, q.Unsure), 4))
	default:
		g := collectors.Gap{Reason: collectors.NotAsked, Detail: "no voter told anything"}
		if q.Gap != nil {
			g = *q.Gap
		}
		g.Detail = fmt.Sprintf("%s; those that do not may be out of our reach only: %s", q, g.Detail)
		p.Unknown(etcd.Cluster, &g)
		return
	}
	v.Saw(etcd.Votes, "voters that answer", fmt.Sprint(len(q.Answer)), fmt.Sprint(q.Need()), quorumSource).
		Number("answer", float64(len(q.Answer))).Number("need", float64(q.Need())).Number("voters", float64(q.Voters))
}
