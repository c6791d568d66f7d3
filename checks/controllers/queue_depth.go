package controllers

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed queue_depth.md
var queueDepthDoc string

// QueueDepth looks for controllers that do not keep up with their work.
var QueueDepth = &checks.Check{
	ID:        "kcm-queue-depth",
	Component: collectors.Controllers,
	Title:     "no controller's queue is long and growing",
	Doc:       queueDepthDoc,
	Needs:     []collectors.Any{controllers.WorkQueues, controllers.Elected.Leads},
	Remedies: []checks.Remedy{
		{Title: "see whether its work fails", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=200 | grep -i error", Risk: checks.ReadOnly},
		{Title: "see how much it may ask the API server and how many workers it has", Command: "kubectl -n kube-system get pod kube-controller-manager-{node} -o jsonpath='{.spec.containers[0].command}'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{depthWarnAt},
	Run:        queueDepth,
}

const (
	// depthWarn objects are more than any controller has waiting that keeps up.
	// An expert's number without a public source, so it ends at a warning.
	depthWarn = 100
	// settling is how long a new leader is busy with looking at everything
	// once: all its queues are long then.
	settling    = 2 * time.Minute
	expertLimit = "experience; no public source"
)

var depthWarnAt = checks.NewThreshold("warn", checks.InNumber, depthWarn, "objects that wait in a queue", "experience; no public source")

func queueDepth(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, controllers.Elected, controllers.WorkQueues) {
		l, _ := checks.Of(p, controllers.Elected.Leads, t)
		deep := slices.DeleteFunc(slices.Clone(q.By), func(x controllers.Queue) bool { return x.Depth <= p.At(depthWarnAt) })
		slices.SortFunc(deep, func(a, b controllers.Queue) int { return cmp.Compare(b.Depth, a.Depth) })
		grown := slices.DeleteFunc(slices.Clone(deep), func(x controllers.Queue) bool { return x.Depth < x.DepthBefore })
		switch {
		case len(deep) == 0:
			x := slices.MaxFunc(q.By, func(a, b controllers.Queue) int { return cmp.Compare(a.Depth, b.Depth) })
			p.OK(t, "the longest of %s holds %s", checks.Count(len(q.By), "queue"), checks.Count(x.Depth, "object")).
				Saw(controllers.WorkQueues, "depth of "+x.Name, fmt.Sprint(x.Depth), fmt.Sprint(p.At(depthWarnAt)), expertLimit)
		case l.Since > 0 && l.Since < settling:
			p.Nothing(t, "has led for %s only; it looks at everything once, and %s holds %.0f objects", checks.Span(l.Since), deep[0].Name, deep[0].Depth)
		case q.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%s holds %.0f objects, and whether it grows is not known: %s", deep[0].Name, deep[0].Depth, q.Broken))
		case len(grown) == 0:
			p.OK(t, "%s holds %.0f objects and shrinks (%.0f %s before)", deep[0].Name, deep[0].Depth, deep[0].DepthBefore, checks.Span(q.Elapsed)).
				Saw(controllers.WorkQueues, "depth of "+deep[0].Name, fmt.Sprint(deep[0].Depth), fmt.Sprint(p.At(depthWarnAt)), expertLimit)
		default:
			x := grown[0]
			v := p.Warn(t, "queue %s holds %.0f objects and does not shrink (%.0f %s before)%s", x.Name, x.Depth, x.DepthBefore, checks.Span(q.Elapsed), andOthers(grown[1:])).
				Number("depth", x.Depth)
			for _, x := range grown {
				v.Saw(controllers.WorkQueues, "depth of "+x.Name, fmt.Sprint(x.Depth), fmt.Sprint(p.At(depthWarnAt)), expertLimit).Mark("queue=" + x.Name)
			}
		}
	}
}

// andOthers names further queues that are as bad.
func andOthers(qs []controllers.Queue) string {
	if len(qs) == 0 {
		return ""
	}
	var names []string
	for _, q := range qs {
		names = append(names, q.Name)
	}
	return "; also " + checks.List(names, 3)
}
