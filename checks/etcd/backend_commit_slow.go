package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed backend_commit_slow.md
var backendCommitSlowDoc string

// BackendCommitSlow looks for databases that take long to reach the disk.
var BackendCommitSlow = &checks.Check{
	ID:        "etcd-backend-commit-slow",
	Component: collectors.Etcd,
	Title:     "every etcd member commits its database quickly",
	Doc:       backendCommitSlowDoc,
	Needs:     append([]collectors.Any{etcd.CommitLatency, etcd.ServerMetrics, etcd.Members}, load...),
	Remedies: []checks.Remedy{
		{Title: "on the node, see who else writes to the disk", Command: "iostat -x 1 5 && pidstat -d 1 5", Risk: checks.ReadOnly},
		{Title: "if the log syncs quickly, see whether the file is mostly free pages", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly, Recipe: "etcd-defrag"},
	},
	Thresholds: []*checks.Threshold{commitHealthyAt, commitWarnAt},
	Run:        backendCommitSlow,
}

const (
	commitWarn   = 0.25
	commitSource = "etcd-mixin etcdHighCommitDurations"
	// commitHealthy is the bucket's edge above the 25 ms of etcd's FAQ.
	commitHealthy       = 0.032
	commitHealthySource = "etcd FAQ: 99% under 25 ms"
)

var commitLimits = []checks.Limit{
	{At: commitWarnAt, Seconds: commitWarn, Share: 0.01, Status: checks.Warning, Source: commitSource},
	{At: commitHealthyAt, Seconds: commitHealthy, Share: 0.01, Status: checks.Info, Source: commitHealthySource},
}

var (
	commitHealthyAt = checks.NewThreshold("info", checks.InSeconds, commitHealthy, "a commit to the database, which 99 of 100 must not exceed", commitHealthySource)
	commitWarnAt    = checks.NewThreshold("warn", checks.InSeconds, commitWarn, "a commit to the database, which 99 of 100 must not exceed", commitSource)
)

func backendCommitSlow(p *checks.Pass) {
	w := newWritePath(p, etcd.CommitLatency, p.Limits(commitLimits))
	for m, l := range checks.Each(p, etcd.CommitLatency) {
		j := judge(l, p.Limits(commitLimits))
		if j.Status == checks.Unknown {
			p.Nothing(m, "nothing was committed %s", j.during())
			continue
		}
		v := p.Judge(m, j.Status, "database commits take %s", j)
		w.mark(v, m)
		j.evidence(v, etcd.CommitLatency)
		if j.Status.Bad() && j.Basis == checks.OverWindow {
			loaded(p, v, m)
		}
	}
}
