package scheduler

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed plugin_slow.md
var pluginSlowDoc string

// PluginSlow looks for the step of an attempt that takes the time.
var PluginSlow = &checks.Check{
	ID:        "scheduler-plugin-slow",
	Component: collectors.Scheduler,
	Title:     "no step of placing a pod takes half a second",
	Doc:       pluginSlowDoc,
	Needs:     []collectors.Any{scheduler.Points, scheduler.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see which plugin it is", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -E 'Trace|slow|extender'", Risk: checks.ReadOnly},
	},
	Run: pluginSlow,
}

// pointLimit is experience.
var pointLimit = checks.Limit{Seconds: 0.5, Share: 0.01, Status: checks.Warning, Source: errorsSource}

func pluginSlow(p *checks.Pass) {
	for t, points := range leases.EachLeader(p, scheduler.Elected, scheduler.Points) {
		var worst checks.LatencyVerdict
		name, n := "", 0.0
		for _, x := range points {
			v := checks.JudgeLatency(x.Latency, pointLimit)
			if v.Status == checks.Unknown || v.Basis == checks.OverLifetime {
				continue
			}
			n += v.Count
			if v.Status.Bad() && v.Above < several {
				v.Status = checks.OK
			}
			if name == "" || v.Status.Severity() > worst.Status.Severity() || v.Status == worst.Status && v.P99.Value > worst.P99.Value {
				worst, name = v, x.Name
			}
		}
		if n == 0 {
			p.Nothing(t, "placed no pod in the window")
			continue
		}
		p.Judge(t, worst.Status, "the slowest step is %s: %s", name, worst).
			Saw(scheduler.Points, "p99 of "+name, checks.Quantile(worst.P99), checks.Seconds(pointLimit.Seconds), pointLimit.Source).
			Saw(scheduler.Points, "above the limit", fmt.Sprintf("%.0f of %.0f", worst.Above, worst.Count), checks.Percent(pointLimit.Share), "").
			Number("p99", worst.P99.Value).Mark("step=" + name)
	}
}
