package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed apply_lag.md
var applyLagDoc string

// ApplyLag looks for members that know of agreed writes and have not brought
// them into their database.
var ApplyLag = &checks.Check{
	ID:        "etcd-apply-lag",
	Component: collectors.Etcd,
	Title:     "etcd members apply what was agreed on",
	Doc:       applyLagDoc,
	Needs:     []collectors.Any{etcd.HowFar},
	Remedies: []checks.Remedy{
		{Title: "on the node, see whether the member is being defragmented; if so, wait and do not restart it", Command: "curl -s http://127.0.0.1:2381/metrics | grep ^etcd_disk_defrag_inflight", Risk: checks.ReadOnly},
		{Title: "on the node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{applyLagWarnAt, applyLagCriticalAt},
	Run:        applyLag,
}

const (
	applyLagWarn     = 1000
	applyLagCritical = 4000
	applyLagSource   = "etcd refuses requests with 'too many requests' from 5000 on (maxGapBetweenApplyAndCommitIndex)"
)

var (
	applyLagWarnAt     = checks.NewThreshold("warn", checks.InNumber, applyLagWarn, "entries agreed on and not applied", applyLagSource)
	applyLagCriticalAt = checks.NewThreshold("critical", checks.InNumber, applyLagCritical, "entries agreed on and not applied", applyLagSource)
)

func applyLag(p *checks.Pass) {
	for m, h := range checks.Each(p, etcd.HowFar) {
		lag := h.Committed - h.Applied
		s, limit, what := checks.OK, p.Whole(applyLagWarnAt), ""
		switch {
		case lag > p.Whole(applyLagCriticalAt):
			s, limit, what = checks.Critical, p.Whole(applyLagCriticalAt), ": from 5000 on it refuses requests"
		case lag > p.Whole(applyLagWarnAt):
			s = checks.Warning
		}
		if h.Looks > 1 && s != checks.OK {
			what += fmt.Sprintf("; %d at the first look", h.FirstCommitted-h.FirstApplied)
		}
		p.Judge(m, s, "%s agreed on and not applied yet%s", checks.Count(max(0, lag), "entry"), what).
			Saw(h.By, "committed - applied", fmt.Sprint(lag), fmt.Sprint(limit), applyLagSource).
			Number("lag", float64(lag))
	}
}
