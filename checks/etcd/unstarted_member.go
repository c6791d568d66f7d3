package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed unstarted_member.md
var unstartedMemberDoc string

// UnstartedMember looks for members that were added and never came: they count
// in the quorum and cannot vote.
var UnstartedMember = &checks.Check{
	ID:        "etcd-unstarted-member",
	Component: collectors.Etcd,
	Title:     "every etcd member that was added has started",
	Doc:       unstartedMemberDoc,
	Needs:     []collectors.Any{etcd.Members, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "see the member's ID; it has no name", Command: "etcdctl member list -w table", Risk: checks.ReadOnly},
		{Title: "if nobody is just adding it, remove it", Command: "etcdctl member remove MEMBER_ID", Risk: checks.Dangerous},
	},
	Run: unstartedMember,
}

func unstartedMember(p *checks.Pass) {
	m, gap := checks.One(p, etcd.Members)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	who, _ := checks.One(p, etcd.WhoIsWho)
	if !who.Complete {
		g := *m.Why
		g.Detail = "only the member list tells, or metrics of etcd 3.6 and later: " + g.Detail
		p.Unknown(etcd.Cluster, g.With(etcd.Remedy))
		return
	}
	found := false
	for _, id := range who.Extra {
		found = true
		p.Unknown(collectors.Target{Component: collectors.Etcd, Name: fmt.Sprintf("%x", id)},
			collectors.Gapf(collectors.NotAsked, "it is a member and has no pod: whether it ever started only the member list tells").With(etcd.Remedy))
	}
	for _, x := range m.Members {
		if x.Started {
			continue
		}
		found = true
		what := "it counts in the quorum and cannot vote"
		judge := p.Warn
		if x.Learner {
			what, judge = "it is a learner, and counts in no quorum", p.Info
		}
		judge(x.Target(), "was added and never started: %s", what).
			Saw(etcd.Members, "name", "none", "", "")
	}
	if !found {
		p.OK(etcd.Cluster, "%s, and none that did not start", checks.Count(len(m.Members), "member"))
	}
}
