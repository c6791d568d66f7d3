package etcd

import (
	"cmp"
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed no_leader.md
var noLeaderDoc string

// NoLeader looks for members that know of no leader, and so answer nothing
// that must be consistent.
var NoLeader = &checks.Check{
	ID:        "etcd-no-leader",
	Component: collectors.Etcd,
	Title:     "every etcd member has a leader",
	Doc:       noLeaderDoc,
	Needs:     []collectors.Any{etcd.Roles, etcd.WhoIsWho, etcd.Votes},
	Remedies: []checks.Remedy{
		{Title: "see who answers, and whom each takes for the leader", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "on the node, see what the member says of elections, its peers and its disk", Command: "crictl logs --tail 200 $(crictl ps -q --name etcd) 2>&1 | grep -E 'elect|leader|peer|slow|took'", Risk: checks.ReadOnly},
		{Title: "see whether the peers reach each other", Command: "openssl s_client -connect PEER:2380 </dev/null", Risk: checks.ReadOnly},
	},
	Run: noLeader,
}

const noLeaderSource = "etcd-mixin etcdNoLeader"

func noLeader(p *checks.Pass) {
	who, _ := checks.One(p, etcd.WhoIsWho)
	q, _ := checks.One(p, etcd.Votes)
	answers, _ := checks.All(p, etcd.Roles)
	led, judged, leader := 0, 0, ""
	for _, a := range answers {
		if a.Gap == nil {
			judged++
			if a.Value.HasLeader {
				led++
			}
			if a.Value.IsLeader {
				leader = a.Target.Name
			}
		}
	}
	for m, r := range checks.Each(p, etcd.Roles) {
		var v *checks.Verdict
		switch {
		case r.IsLeader:
			v = p.OK(m, "is the leader")
		case r.HasLeader && cmp.Or(leader, who.Name(r.LeaderID)) != "":
			v = p.OK(m, "has a leader: %s", cmp.Or(leader, who.Name(r.LeaderID)))
		case r.HasLeader:
			v = p.OK(m, "has a leader")
		case led > 0:
			v = p.Warn(m, "has no leader, while %d of %d members have: it is cut off from them, or just starting", led, judged)
		case r.HadLeader && r.Looks > 1:
			// An election takes a second or two: look longer before it is more.
			v = p.Warn(m, "lost its leader while it was watched, and no member has one").TooFew()
		case !q.Impossible():
			v = p.Warn(m, "has no leader; the members that we did not reach may have one among themselves")
		default:
			v = p.Critical(m, "has no leader, as has no member that answers: no write and no consistent read is possible")
		}
		v.Saw(r.By, "has a leader", fmt.Sprint(r.HasLeader), "true", noLeaderSource)
	}
}
