package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed backoff_queue.md
var backoffQueueDoc string

// BackoffQueue looks for many pods that are tried again and again.
var BackoffQueue = &checks.Check{
	ID:        "scheduler-backoff-queue",
	Component: collectors.Scheduler,
	Title:     "few pods are tried again and again",
	Doc:       backoffQueueDoc,
	Needs:     []collectors.Any{scheduler.Pending, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "read why they fail", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Error scheduling pod|Failed to bind'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{backoffWarnAt},
	Run:        backoffQueue,
}

// backoffWarn is experience: a pod waits there for 1 to 10 s.
const backoffWarn = 50

var backoffWarnAt = checks.NewThreshold("warn", checks.InNumber, backoffWarn, "pods that wait to be tried again", "experience; no public source")

func backoffQueue(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, scheduler.Elected, scheduler.Pending) {
		now, before := q.Now.Backoff, q.Before.Backoff
		var v *checks.Verdict
		switch {
		case now <= p.At(backoffWarnAt):
			v = p.OK(t, "%.0f waiting to be tried again", now)
		case q.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%.0f wait to be tried again; whether they become fewer is not known: %s", now, q.Broken))
			continue
		case before <= p.At(backoffWarnAt) || now < before:
			v = p.OK(t, "%.0f waiting to be tried again, and %.0f at the look before", now, before)
		default:
			v = p.Warn(t, "%.0f pods wait to be tried again and do not become fewer (%.0f at the look before)", now, before)
		}
		v.Saw(scheduler.Pending, "backoff", fmt.Sprint(now), fmt.Sprint(p.At(backoffWarnAt)), errorsSource).Number("backoff", now)
	}
}
