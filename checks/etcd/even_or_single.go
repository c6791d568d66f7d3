package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed even_or_single.md
var evenOrSingleDoc string

// EvenOrSingle looks for numbers of voters that give less than they seem to.
var EvenOrSingle = &checks.Check{
	ID:        "etcd-even-or-single",
	Component: collectors.Etcd,
	Title:     "etcd has three or five voters",
	Doc:       evenOrSingleDoc,
	Needs:     []collectors.Any{etcd.Members, etcd.Votes, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "see who the members are, and whether all of them are wanted", Command: "etcdctl member list -w table", Risk: checks.ReadOnly},
	},
	Run: evenOrSingle,
}

const (
	mostVoters   = 7 // more make every write slower and the cluster no safer
	votersSource = "etcd FAQ: an odd number, at most 7"
)

func evenOrSingle(p *checks.Pass) {
	m, gap := checks.One(p, etcd.Members)
	q, voteGap := checks.One(p, etcd.Votes)
	if gap == nil {
		gap = voteGap
	}
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	who, _ := checks.One(p, etcd.WhoIsWho)
	n := q.Voters
	may := n - q.Need()
	var v *checks.Verdict
	switch {
	case !who.Complete && n > 1 && n%2 == 0:
		g := *m.Why
		g.Detail = fmt.Sprintf("%s by their pods; whether that is all of them only the member list tells: %s", voters(n), g.Detail)
		p.Unknown(etcd.Cluster, g.With(etcd.Remedy))
		return
	case n == 1:
		v = p.Info(etcd.Cluster, "a single voter: if it fails, the control plane does")
	case n%2 == 0:
		v = p.Warn(etcd.Cluster, "%s, of which %s: one less would do the same", voters(n), mayFail(may))
	case n > mostVoters:
		v = p.Warn(etcd.Cluster, "%s, of which %s: every write waits for %d of them", voters(n), mayFail(may), q.Need())
	default:
		v = p.OK(etcd.Cluster, "%s, of which %s", voters(n), mayFail(may))
	}
	v.Saw(etcd.Votes, "voters", fmt.Sprint(n), fmt.Sprint(mostVoters), votersSource).Number("voters", float64(n))
}

func mayFail(n int) string {
	if n == 0 {
		return "none may fail"
	}
	return fmt.Sprintf("%d may fail", n)
}
