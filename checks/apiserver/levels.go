package apiserver

import (
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
