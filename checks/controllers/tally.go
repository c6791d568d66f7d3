package controllers

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

// A counter is one of a controller manager's that is good at zero.
type counter struct {
	of     func(controllers.Tally) controllers.Counted
	what   string // what it counts, after a number
	status checks.Status
	source string
	// lasting is how many there must have been since the start for trouble that
	// lasts; fewer are advice.
	lasting float64
}

// count judges a counter by the window. What was counted before is told, and
// is no trouble of now.
func count(p *checks.Pass, c counter) {
	for t, x := range leases.EachLeader(p, controllers.Elected, controllers.Tallies) {
		n := c.of(x)
		switch {
		case !n.Served:
			p.Nothing(t, "this version does not count it, or has had nothing to count")
		case x.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "what was counted over the window is not known: %s", x.Broken))
		case n.Window > 0:
			status := c.status
			if n.Lifetime < c.lasting {
				status = checks.Info
			}
			p.Judge(t, status, "%.0f %s in %s (%.0f since it started)", n.Window, c.what, checks.Span(x.Elapsed), n.Lifetime).
				Saw(controllers.Tallies, c.what, fmt.Sprint(n.Window), "0", c.source).Number("count", n.Window)
		default:
			p.OK(t, "0 %s in %s (%.0f since it started)", c.what, checks.Span(x.Elapsed), n.Lifetime).
				Saw(controllers.Tallies, c.what, "0", "0", c.source)
		}
	}
}
