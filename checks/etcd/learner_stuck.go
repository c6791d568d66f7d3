package etcd

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed learner_stuck.md
var learnerStuckDoc string

// LearnerStuck looks for members that were meant to become voters and did not.
var LearnerStuck = &checks.Check{
	ID:        "etcd-learner-stuck",
	Component: collectors.Etcd,
	Title:     "no etcd member stays a learner",
	Doc:       learnerStuckDoc,
	Needs:     []collectors.Any{etcd.Members, etcd.Roles, etcd.ServerMetrics},
	Remedies: []checks.Remedy{
		{Title: "see whether the learner has caught up", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "make it a voter", Command: "etcdctl member promote MEMBER_ID", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{learnerTimeAt},
	Run:        learnerStuck,
}

const (
	// learnerTime is longer than any learner takes to receive a database of
	// etcd's largest sensible size [exp].
	learnerTime   = 5 * time.Minute
	learnerSource = "heuristic"
)

var learnerTimeAt = checks.NewThreshold("time", checks.InSeconds, checks.Secs(learnerTime), "that a learner may take to catch up", learnerSource)

func learnerStuck(p *checks.Pass) {
	m, gap := checks.One(p, etcd.Members)
	if gap != nil {
		p.Unknown(etcd.Cluster, gap)
		return
	}
	learners, unsure := 0, 0
	for _, x := range m.Members {
		role, gap := checks.Of(p, etcd.Roles, x.Target())
		if !m.Listed && gap != nil {
			unsure++
			p.Unknown(x.Target(), gap)
			continue
		}
		if !x.Learner && !role.Learner {
			continue
		}
		learners++
		sv, _ := checks.Of(p, etcd.ServerMetrics, x.Target())
		switch {
		case sv.Uptime > p.Span(learnerTimeAt):
			p.Warn(x.Target(), "is a learner, and has been running for %s", checks.Span(sv.Uptime)).
				Saw(etcd.ServerMetrics, "uptime", checks.Span(sv.Uptime), checks.Span(p.Span(learnerTimeAt)), learnerSource)
		case sv.Uptime > 0:
			p.Info(x.Target(), "is a learner, and has been running for %s", checks.Span(sv.Uptime)).
				Saw(etcd.ServerMetrics, "uptime", checks.Span(sv.Uptime), checks.Span(p.Span(learnerTimeAt)), learnerSource)
		default:
			p.Info(x.Target(), "is a learner; for how long is not known")
		}
	}
	if learners+unsure == 0 {
		p.OK(etcd.Cluster, "%s, no learner", checks.Count(len(m.Members), "member"))
	}
}
