package remediate

import (
	"context"
)

// Rehearse does what Apply does up to its first action, and tells whether that
// would be begun now, and which step it is: 0 if none is left. It changes nothing
// and writes no journal. It waits for no step whose time has not come.
func (r *Run) Rehearse(ctx context.Context) (step int, err error) {
	if err := r.Admit(ctx); err != nil {
		return 0, err
	}
	g := newGate(r.Plan)
	for i, s := range r.Plan.Steps {
		n := i + 1
		if r.Resume != nil && r.Resume.Done[n] {
			g.done(s.Action, r.Resume.Took[n])
			continue
		}
		if r.Resume != nil && r.Resume.Acted[n] {
			return n, nil // it is only waited for
		}
		guards, _ := g.of(i)
		if err := demand(guards, r.Look(ctx, guards)); err != nil {
			return n, r.refuse(n, err)
		}
		return n, nil
	}
	return 0, nil
}
