package etcd

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed shared_with_others.md
var sharedWithOthersDoc string

// SharedWithOthers looks for members that do not share their timing with the
// others.
var SharedWithOthers = &checks.Check{
	ID:        "etcd-shared-with-others",
	Component: collectors.Etcd,
	Title:     "all etcd members have the same heartbeat and election timeout",
	Doc:       sharedWithOthersDoc,
	Needs:     []collectors.Any{etcd.CommandLines},
	Remedies: []checks.Remedy{
		{Title: "give all the same, in each static pod's manifest", Command: "grep -E 'heartbeat-interval|election-timeout' /etc/kubernetes/manifests/etcd.yaml", Risk: checks.ReadOnly},
	},
	Run: sharedWithOthers,
}

const timingSource = "etcd documentation, tuning: the same in all members"

func sharedWithOthers(p *checks.Pass) {
	type timing struct{ heartbeat, election time.Duration }
	by := map[timing][]string{}
	answers, _ := checks.All(p, etcd.CommandLines)
	for _, a := range answers {
		if a.Gap == nil {
			t := timing{a.Value.Heartbeat(), a.Value.Election()}
			by[t] = append(by[t], a.Target.Name)
		}
	}
	most, tie := timing{}, false
	for t, names := range by {
		switch n := len(by[most]); {
		case len(names) > n:
			most, tie = t, false
		case len(names) == n:
			tie = true
		}
	}
	for m, f := range checks.Each(p, etcd.CommandLines) {
		t := timing{f.Heartbeat(), f.Election()}
		words := fmt.Sprintf("a heartbeat every %s, an election after %s", checks.Seconds(t.heartbeat.Seconds()), checks.Seconds(t.election.Seconds()))
		var v *checks.Verdict
		switch {
		case tie:
			v = p.Warn(m, "%s, and it is not the same in all members", words)
		case t != most:
			v = p.Warn(m, "%s, where the others have %s and %s", words, checks.Seconds(most.heartbeat.Seconds()), checks.Seconds(most.election.Seconds()))
		case len(answers) == 1:
			v = p.OK(m, "%s", words)
		default:
			v = p.OK(m, "%s, as in %d of %s", words, len(by[t])-1, checks.Count(len(answers)-1, "other member"))
		}
		v.Saw(etcd.CommandLines, "--heartbeat-interval, --election-timeout", t.heartbeat.String()+", "+t.election.String(), "the same in all", timingSource)
	}
}
