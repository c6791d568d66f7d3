package pods

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/pending"
)

// maxModelled is of how many causes the smallest change is worked out. ktriage
// pending tells of all.
const maxModelled = 3

// modelled adds what the objects show, where they could be read: all that is in
// the way, where the scheduler names the first thing, and the smallest change that
// helps. It is of the present; what the scheduler said is not.
func modelled(p *checks.Pass, v *checks.Verdict) {
	ws, gap := checks.One(p, pods.Waiting)
	if gap != nil {
		return
	}
	w, gap := checks.One(p, placement.Seen)
	if gap != nil {
		return
	}
	is, _ := checks.One(p, cluster.Instances)
	shown := 0
	for _, g := range pending.Groups(pending.Input{Waiters: ws, World: &w, Configured: placement.Configuration(is), Most: maxModelled}) {
		if g.From != pending.Model || shown == maxModelled {
			continue
		}
		shown++
		v.Saw(placement.Seen, fmt.Sprintf("%s such as %s:", checks.Count(g.Pods, "pod"), g.Example), g.Cause, "", "")
		if len(g.Changes) > 0 && !g.Unproved {
			c := g.Changes[0]
			text := c.Summary
			if len(c.Commands) > 0 {
				text += ": " + c.Commands[0]
			}
			v.Saw(placement.Seen, "smallest change:", text, "", "")
		}
	}
}
