package controllers

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed work_latency.md
var workLatencyDoc string

// WorkLatency looks for controllers that take long for each object.
var WorkLatency = &checks.Check{
	ID:        "kcm-work-latency",
	Component: collectors.Controllers,
	Title:     "a controller is done with an object in less than a second",
	Doc:       workLatencyDoc,
	Needs:     []collectors.Any{controllers.WorkQueues, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see whether the API server is slow to it", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=200 | grep -iE 'throttling|timeout|took'", Risk: checks.ReadOnly},
	},
	Run: workLatency,
}

// thorough are queues whose objects take long as they should: a namespace is
// emptied, every quota is counted anew.
var thorough = []string{"namespace", "resource_quota_controller_resource_changes", "resourcequota_primary", "volumes", "claims"}

func workLatency(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, controllers.Elected, controllers.WorkQueues) {
		if l, _ := checks.Of(p, controllers.Elected.Leads, t); l.Since > 0 && l.Since < settling {
			p.Nothing(t, "has led for %s only; it looks at everything once", checks.Span(l.Since))
			continue
		}
		if q.Broken != "" {
			p.Unknown(t, collectors.Gapf(collectors.Absent, "times over the window are not known: %s", q.Broken))
			continue
		}
		var bad []controllers.Queue
		var n, above float64
		words := map[string]checks.LatencyVerdict{}
		for _, x := range q.By {
			v := checks.JudgeLatency(x.Work, waitLimit)
			if v.Basis == checks.OverLifetime || slices.Contains(thorough, x.Name) {
				continue
			}
			n, above = n+v.Count, above+v.Above
			if v.Status.Bad() && v.Above >= several && v.Count >= steady {
				bad, words[x.Name] = append(bad, x), v
			}
		}
		switch {
		case len(bad) > 0:
			slices.SortFunc(bad, func(a, b controllers.Queue) int { return cmp.Compare(words[b.Name].Above, words[a.Name].Above) })
			x := words[bad[0].Name]
			v := p.Warn(t, "controller %s takes long for an object: %s%s", bad[0].Name, x, andOthers(bad[1:])).Number("p99", x.P99.Value)
			for _, b := range bad {
				w := words[b.Name]
				v.Saw(controllers.WorkQueues, "work of "+b.Name, fmt.Sprintf("%.0f of %.0f above %s", w.Above, w.Count, checks.Seconds(w.Edge)), checks.Percent(waitLimit.Share), expertLimit).Mark("queue=" + b.Name)
			}
		case n == 0:
			p.Nothing(t, "no controller did anything in the window")
		default:
			p.OK(t, "of %s in the window %.0f took longer than a second", checks.Count(n, "object"), above).
				Saw(controllers.WorkQueues, "objects", fmt.Sprint(n), "", "")
		}
	}
}
