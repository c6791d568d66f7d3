package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed proposals_failed.md
var proposalsFailedDoc string

// ProposalsFailed looks for writes that were not agreed on.
var ProposalsFailed = &checks.Check{
	ID:        "etcd-proposals-failed",
	Component: collectors.Etcd,
	Title:     "no writes fail to be agreed on",
	Doc:       proposalsFailedDoc,
	Needs:     []collectors.Any{etcd.ProposalMetrics},
	Remedies: []checks.Remedy{
		{Title: "see whether there is a leader, and how far each member is", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{failedWarnAt},
	Run:        proposalsFailed,
}

const (
	// A client that gives up counts as a failure as well, so that one or two
	// mean nothing; the public limit of 5 a second over 15 minutes is for
	// lasting trouble. An election fails all that was under way [exp].
	failedWarn   = 5
	failedSource = "etcd-mixin etcdHighNumberOfFailedProposals: 5 a second"
)

var failedWarnAt = checks.NewThreshold("warn", checks.InNumber, failedWarn, "proposals that failed in the window", failedSource)

func proposalsFailed(p *checks.Pass) {
	for m, pr := range checks.Each(p, etcd.ProposalMetrics) {
		judgeGrowth(p, m, etcd.ProposalMetrics, pr.Failed, p.At(failedWarnAt), failedSource,
			"no write failed to be agreed on", func(n float64) string { return checks.Count(n, "write") + " failed to be agreed on" }, "")
	}
}
