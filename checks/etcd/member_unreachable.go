package etcd

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed member_unreachable.md
var memberUnreachableDoc string

// MemberUnreachable looks for members that are down: that do not answer, while
// something other than our own view says that they do not run or are cut off.
var MemberUnreachable = &checks.Check{
	ID:        "etcd-member-unreachable",
	Component: collectors.Etcd,
	Title:     "every etcd member answers",
	Doc:       memberUnreachableDoc,
	Needs:     []collectors.Any{etcd.Reached, etcd.Votes, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "on the node, see whether the process runs and what it said last", Command: "crictl ps -a --name etcd && crictl logs --tail 50 $(crictl ps -aq --name etcd | head -1)", Risk: checks.ReadOnly},
		{Title: "see which members answer each other", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "if the node is gone for good, remove its member before adding another", Command: "etcdctl member list && etcdctl member remove MEMBER_ID", Risk: checks.Dangerous},
	},
	Run: memberUnreachable,
}

// membersSource is where the severities come from: a member that is down is a
// warning upstream; when it leaves no member to spare, the next failure, or a
// reboot, stops the control plane, and OpenShift's alert is critical.
const membersSource = "etcd-mixin etcdMembersDown; cluster-etcd-operator"

func memberUnreachable(p *checks.Pass) {
	q, _ := checks.One(p, etcd.Votes)
	for m, c := range checks.Each(p, etcd.Reached) {
		switch {
		case c.By != "" && c.Took > 0:
			p.OK(m, "answers with %s, in %s", c.By, checks.Seconds(c.Took.Seconds())).
				Saw(etcd.Reached, "answered with", c.By, "", "")
		case c.By != "":
			p.OK(m, "answers with %s", c.By).
				Saw(etcd.Reached, "answered with", c.By, "", "")
		case c.Down != "":
			v := memberDown(p, m, q, slices.Contains(q.Down, m.Name), "is down: "+c.Down)
			if c.Hangs {
				v.Mark("hangs")
			}
			if !c.Since.IsZero() {
				v.Saw(etcd.Reached, "down", "since "+c.Since.UTC().Format(time.RFC3339), "", "").
					Number("lost", p.Now().Sub(c.Since).Seconds())
			}
		default:
			p.Unknown(m, c.Gap)
		}
	}
	who, _ := checks.One(p, etcd.WhoIsWho)
	for _, id := range who.Extra {
		if name := fmt.Sprintf("%x", id); slices.Contains(q.Down, name) {
			memberDown(p, collectors.Target{Component: collectors.Etcd, Name: name}, q, true, "is down: it is a member, has no pod, and its peers do not hear it")
		}
	}
}

func memberDown(p *checks.Pass, m collectors.Target, q etcd.Quorum, votes bool, what string) *checks.Verdict {
	status, then := checks.Warning, ""
	switch spare := q.Spare(); {
	case !votes:
		what, then = what+"; it has no vote", ""
	case spare > 1:
		then = fmt.Sprintf(": %d more may fail", spare)
	case spare == 1:
		then = ": one more may fail"
	case spare == 0:
		status, then = checks.Critical, ": one more failure stops all writes"
	default:
		status, then = checks.Critical, ": there is no quorum"
	}
	return p.Judge(m, status, "%s; %s%s", what, q, then).
		Saw(etcd.Votes, "voters that answer", fmt.Sprint(len(q.Answer)), fmt.Sprint(q.Need()), membersSource).
		Number("spare", float64(q.Spare()))
}
