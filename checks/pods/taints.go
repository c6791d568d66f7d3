package pods

import (
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/nodes"
	"github.com/ktriage/ktriage/collectors/pods"
)

// unnamed is what newer schedulers, and the oldest, say of taints: that there
// are some.
const unnamed = "untolerated taint(s)"

// nameTaints puts the taints in the place of that, by the nodes themselves: all
// that the group's example does not tolerate.
func nameTaints(p *checks.Pass, groups []pods.Group) {
	taints, gap := checks.One(p, nodes.Taints)
	if gap != nil {
		return
	}
	for i, g := range groups {
		n := slices.IndexFunc(g.Reasons, func(r pods.Reason) bool { return r.Text == unnamed })
		if n < 0 {
			continue
		}
		var names []string
		for _, t := range taints {
			if t.Keeps(g.Tolerations) && !slices.Contains(names, t.String()) {
				names = append(names, t.String())
			}
		}
		if len(names) == 0 {
			continue // it has changed since
		}
		groups[i].Reasons = slices.Clone(g.Reasons)
		groups[i].Reasons[n].Text = "untolerated taint " + checks.List(names, 3)
	}
}
