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

//go:embed queue_latency.md
var queueLatencyDoc string

// QueueLatency looks for controllers whose objects wait long.
var QueueLatency = &checks.Check{
	ID:        "kcm-queue-latency",
	Component: collectors.Controllers,
	Title:     "what a controller has to look at waits less than a second",
	Doc:       queueLatencyDoc,
	Needs:     []collectors.Any{controllers.WorkQueues, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see whether its work fails or the API server is slow", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=200 | grep -iE 'error|throttling|timeout'", Risk: checks.ReadOnly},
	},
	Run: queueLatency,
}

// waitLimit is experience, so it ends at a warning. The buckets are powers of
// ten; a second is an edge, and beyond ten nothing is told apart.
var waitLimit = checks.Limit{Seconds: 1, Share: 0.01, Status: checks.Warning, Source: expertLimit}

const (
	// several slow ones are needed for a verdict, however few there are in all.
	several = 3
	// steady is how many objects a queue must have had in the window: of one
	// that had a handful, the wait of a burst is not a habit.
	steady = 50
)

func queueLatency(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, controllers.Elected, controllers.WorkQueues) {
		l, _ := checks.Of(p, controllers.Elected.Leads, t)
		if l.Since > 0 && l.Since < settling {
			p.Nothing(t, "has led for %s only; it looks at everything once", checks.Span(l.Since))
			continue
		}
		type judged struct {
			name string
			checks.LatencyVerdict
		}
		var bad []judged
		var n, above float64
		thin := false
		for _, x := range q.By {
			v := checks.JudgeLatency(x.Wait, waitLimit)
			if v.Basis == checks.OverLifetime {
				continue // every start of a controller manager has slow minutes in it
			}
			n, above = n+v.Count, above+v.Above
			if v.Status.Bad() && v.Above >= several && v.Count >= steady {
				bad = append(bad, judged{x.Name, v})
			} else if v.Status.Bad() {
				thin = true
			}
		}
		switch {
		case len(bad) > 0:
			slices.SortFunc(bad, func(a, b judged) int { return cmp.Compare(b.Above, a.Above) })
			var names []controllers.Queue
			for _, b := range bad[1:] {
				names = append(names, controllers.Queue{Name: b.name})
			}
			b := bad[0]
			v := p.Warn(t, "objects of controller %s wait: %s%s", b.name, b.LatencyVerdict, andOthers(names)).Number("p99", b.P99.Value)
			for _, b := range bad {
				v.Saw(controllers.WorkQueues, "wait in "+b.name, fmt.Sprintf("%.0f of %.0f above %s", b.Above, b.Count, checks.Seconds(b.Edge)), checks.Percent(waitLimit.Share), expertLimit).Mark("queue=" + b.name)
			}
		case q.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "waiting times over the window are not known: %s", q.Broken))
		case n == 0:
			p.Nothing(t, "no controller had anything to look at in the window")
		default:
			v := p.OK(t, "of %s in the window %.0f waited longer than a second", checks.Count(n, "object"), above).
				Saw(controllers.WorkQueues, "objects", fmt.Sprint(n), "", "")
			if thin {
				v.TooFew()
			}
		}
	}
}
