package etcd

import (
	_ "embed"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed auto_compaction_conflict.md
var autoCompactionConflictDoc string

// AutoCompactionConflict looks for members that compact by themselves what the
// API server compacts, and sooner than it.
var AutoCompactionConflict = &checks.Check{
	ID:        "etcd-auto-compaction-conflict",
	Component: collectors.Etcd,
	Title:     "the API server alone decides what history etcd keeps",
	Doc:       autoCompactionConflictDoc,
	Needs:     []collectors.Any{etcd.CommandLines},
	Remedies: []checks.Remedy{
		{Title: "drop the flag in the static pod's manifest, one node at a time", Command: "vi /etc/kubernetes/manifests/etcd.yaml # --auto-compaction-retention", Risk: checks.Disruptive},
	},
	Run: autoCompactionConflict,
}

const (
	// Watches and paged lists of the API server go back as far as it keeps
	// history: 5 minutes. Source: kube-apiserver, --etcd-compaction-interval.
	retentionLeast  = 5 * time.Minute
	retentionSource = "kube-apiserver --etcd-compaction-interval=5m"
)

func autoCompactionConflict(p *checks.Pass) {
	for m, f := range checks.Each(p, etcd.CommandLines) {
		given, mode := f["auto-compaction-retention"], f["auto-compaction-mode"]
		keeps, revisions, err := retention(given, mode)
		var v *checks.Verdict
		switch {
		case given == "" || given == "0":
			v = p.OK(m, "does not compact by itself")
		case err != nil:
			p.Unknown(m, collectors.Gapf(collectors.Malformed, "its --auto-compaction-retention is %q, which is no time and no number", given))
			continue
		case revisions > 0:
			v = p.Info(m, "compacts by itself, all but the last %d revisions, beside the API server", revisions)
		case keeps < retentionLeast:
			v = p.Warn(m, "compacts by itself, all that is older than %s: the API server counts on %s", checks.Span(keeps), checks.Span(retentionLeast))
		default:
			v = p.Info(m, "compacts by itself, all that is older than %s, which the API server does already", checks.Span(keeps))
		}
		v.Saw(etcd.CommandLines, "--auto-compaction-retention", given, checks.Span(retentionLeast), retentionSource)
	}
}

// retention reads the flag: hours if it is a bare number, a time with a unit,
// or, in the mode revision, a number of revisions.
func retention(given, mode string) (time.Duration, int64, error) {
	n, err := strconv.ParseInt(given, 10, 64)
	switch {
	case err == nil && mode == "revision":
		return 0, n, nil
	case err == nil:
		return time.Duration(n) * time.Hour, 0, nil
	}
	d, err := time.ParseDuration(given)
	return d, 0, err
}
