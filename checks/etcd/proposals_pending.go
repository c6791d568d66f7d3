package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed proposals_pending.md
var proposalsPendingDoc string

// ProposalsPending looks for writes that wait to be agreed on.
var ProposalsPending = &checks.Check{
	ID:        "etcd-proposals-pending",
	Component: collectors.Etcd,
	Title:     "no writes wait to be agreed on",
	Doc:       proposalsPendingDoc,
	Needs:     append([]collectors.Any{etcd.ProposalMetrics}, load...),
	Remedies: []checks.Remedy{
		{Title: "see whether there is a leader, and how far each member is", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{pendingWarnAt},
	Run:        proposalsPending,
}

const (
	pendingWarn   = 5 // at both looks [exp]
	pendingSource = "heuristic"
)

var pendingWarnAt = checks.NewThreshold("warn", checks.InNumber, pendingWarn, "proposals waiting, at both looks", pendingSource)

func proposalsPending(p *checks.Pass) {
	for m, pr := range checks.Each(p, etcd.ProposalMetrics) {
		var v *checks.Verdict
		switch {
		case pr.Pending > p.Whole(pendingWarnAt) && pr.TwoLooks && pr.FirstPending > p.Whole(pendingWarnAt):
			v = p.Warn(m, "%s wait to be agreed on, and %d did at the first look", checks.Count(pr.Pending, "write"), pr.FirstPending)
			loaded(p, v, m)
		case pr.Pending > p.Whole(pendingWarnAt) && !pr.TwoLooks:
			v = p.Info(m, "%s wait to be agreed on; there was one look only", checks.Count(pr.Pending, "write"))
		case pr.TwoLooks:
			v = p.OK(m, "%s to be agreed on, %d at the first look", wait(pr.Pending), pr.FirstPending)
		default:
			v = p.OK(m, "%s to be agreed on", wait(pr.Pending))
		}
		v.Saw(etcd.ProposalMetrics, "pending", fmt.Sprint(pr.Pending), fmt.Sprint(p.Whole(pendingWarnAt)), pendingSource).
			Number("pending", float64(pr.Pending))
	}
}

func wait(n int64) string {
	if n == 1 {
		return "1 write waits"
	}
	return checks.Count(n, "write") + " wait"
}
