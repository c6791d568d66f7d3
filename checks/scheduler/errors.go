package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed errors.md
var errorsDoc string

// Errors looks for attempts to place a pod that end in an error.
var Errors = &checks.Check{
	ID:        "scheduler-errors",
	Component: collectors.Scheduler,
	Title:     "attempts to place pods do not end in errors",
	Doc:       errorsDoc,
	Needs:     []collectors.Any{scheduler.Attempts, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "read the errors", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Error scheduling pod|Failed to bind'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{errorsWarnAt},
	Run:        errorsCheck,
}

// errorsWarn is the share of attempts that may end in an error: single ones do,
// such as a bind to a node that was just deleted, and are tried again. It is
// experience, so it ends at a warning.
const (
	errorsWarn   = 0.05
	errorsSource = "experience; no public source"
)

var errorsWarnAt = checks.NewThreshold("warn", checks.InRatio, errorsWarn, "of the attempts that end in an error", errorsSource)

func errorsCheck(p *checks.Pass) {
	for t, n := range leases.EachLeader(p, scheduler.Elected, scheduler.Attempts) {
		total := n.Total()
		if total == 0 {
			p.Nothing(t, "tried no pod in the window")
			continue
		}
		share := n.Error / total
		status := checks.OK
		if metrics.Exceeds(total, n.Error, p.At(errorsWarnAt)) {
			status = checks.Warning
		}
		v := p.Judge(t, status, "%.0f of %.0f attempts in %s ended in an error", n.Error, total, checks.Span(n.Elapsed)).
			Saw(scheduler.Attempts, "errors", checks.Percent(share), checks.Percent(p.At(errorsWarnAt)), errorsSource).
			Saw(scheduler.Attempts, "attempts", fmt.Sprint(total), "", "").
			Number("ratio", share)
		if status == checks.OK && n.Error > 0 && !metrics.Excludes(total, n.Error, p.At(errorsWarnAt)) {
			v.TooFew()
		}
	}
}
