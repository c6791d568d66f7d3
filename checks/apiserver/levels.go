package apiserver

import (
	"fmt"
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

// eachFairness yields the instances that limit their requests by priority
// levels, and reports the others as out of scope.
func eachFairness(p *checks.Pass) iter.Seq2[collectors.Target, apiserver.FlowControl] {
	return func(yield func(collectors.Target, apiserver.FlowControl) bool) {
		for t, f := range checks.Each(p, apiserver.Fairness) {
			if len(f.Levels) == 0 {
				p.Nothing(t, "API Priority and Fairness is off")
			} else if !yield(t, f) {
				return
			}
		}
	}
}

// fewHeld is the share of a level's requests below which its largest holder
// does not explain it.
const fewHeld = 0.25

// filler says whose requests fill a level, as a clause to append to a summary;
// empty where the dump of requests is not to be had, or has nobody to name. It
// is a look of its own, so it may show another moment than the numbers before
// it.
func filler(p *checks.Pass, t collectors.Target, level string) string {
	holders, gap := checks.Of(p, apiserver.SeatHolders, t)
	if gap != nil {
		return ""
	}
	most, all := holders.Of(level)
	const dump = "; in the dump of its requests"
	switch {
	case all == 0:
		return ""
	case float64(most.Requests) < fewHeld*float64(all):
		return fmt.Sprintf("%s no user has more than %d of %d", dump, most.Requests, all)
	case most.User == "":
		return fmt.Sprintf("%s %d of %d came by schema %s", dump, most.Requests, all, most.Schema)
	}
	what := ""
	if most.What != "" {
		what = ", mostly " + most.What
	}
	return fmt.Sprintf("%s %d of %d are of user %s (schema %s%s)", dump, most.Requests, all, most.User, most.Schema, what)
}
