package report

import (
	"cmp"
	"slices"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/diagnose"
)

// Chain is the longest way from the problem to a symptom, if it has a stage
// between: of several, that which ends in the worst, then nearest to the user.
func (p Problem) Chain() []diagnose.Hop {
	farther := func(a, b *Symptom) bool {
		near := func(s *Symptom) int { return slices.Index(collectors.Components, s.Target.Component) }
		return cmp.Or(cmp.Compare(len(a.Chain), len(b.Chain)), cmp.Compare(a.Status.Severity(), b.Status.Severity()), cmp.Compare(near(a), near(b))) > 0
	}
	var best *Symptom
	for i := range p.Symptoms {
		if s := &p.Symptoms[i]; s.Status.Bad() && len(s.Chain) > 2 && (best == nil || farther(s, best)) {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return best.Chain
}
