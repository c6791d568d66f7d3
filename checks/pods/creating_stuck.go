package pods

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
)

//go:embed creating_stuck.md
var creatingStuckDoc string

// CreatingStuck tells of pods that a kubelet has taken up and cannot start.
// That is a matter of the pod, the image or the node, not of the control plane.
var CreatingStuck = &checks.Check{
	ID:        "pod-creating-stuck",
	Component: collectors.Pods,
	Title:     "pods that a kubelet has taken up start within an hour",
	Doc:       creatingStuckDoc,
	Needs:     []collectors.Any{pods.Pending},
	Remedies: []checks.Remedy{
		{Title: "read why it does not start", Command: "kubectl get events -A --field-selector type=Warning --sort-by=.lastTimestamp", Risk: checks.ReadOnly},
	},
	Run: creatingStuck,
}

// startsFor is how long a pod may take. Source: kubernetes-mixin,
// KubeContainerWaiting.
const startsFor = time.Hour

func creatingStuck(p *checks.Pass) {
	c, gap := checks.One(p, pods.Pending)
	if gap != nil {
		p.Unknown(pods.All, gap)
		return
	}
	all := c.Sum(pods.Starting)
	if all.Past1h == 0 {
		p.OK(pods.All, "of %s none has been starting for an hour", checks.Count(c.Total, "pending pod")).
			Saw(pods.Pending, "starting", fmt.Sprint(all.Count), "", "")
		return
	}
	groups := c.By(pods.Starting)
	slices.SortStableFunc(groups, func(a, b pods.Group) int { return -cmp.Compare(a.Past1h, b.Past1h) })
	var why []string
	for _, g := range groups {
		if g.Past1h > 0 {
			why = append(why, fmt.Sprintf("%d for %s (%s)", g.Past1h, cmp.Or(g.Key, "no reason given"), g.Example))
		}
	}
	p.Info(pods.All, "%s still starting after up to %s: %s", held(all.Past1h), checks.Span(all.Oldest), checks.List(why, 3)).
		Saw(pods.Pending, "starting for an hour", fmt.Sprint(all.Past1h), checks.Span(startsFor), "kubernetes-mixin KubeContainerWaiting").
		Number("pods", float64(all.Past1h))
}
