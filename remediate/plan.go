package remediate

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// An Action is one change, as data: it can be shown, saved and compared.
type Action struct {
	Kind   string            `json:"kind"` // "etcd.defragment"
	Target collectors.Target `json:"target"`
	Args   map[string]string `json:"args,omitempty"`
}

// An Actuator makes changes. It is the only interface in ktriage that does.
type Actuator interface {
	Do(context.Context, Action) error
}

// A Step is an action with what must hold before it and what must hold after.
type Step struct {
	Action Action
	Why    checks.ID       // the check whose finding this step answers
	Guards []*checks.Check // each must be OK on fresh facts just before; unknown stops
	Clears []*checks.Check // each must be OK on fresh facts just after
	Undo   string          // how to go back, or why there is no way
}

// A Plan is steps in order. Making one changes nothing.
type Plan struct{ Steps []Step }

// A Look collects fresh facts for the given checks and judges them.
type Look func(context.Context, []*checks.Check) []checks.Finding

// Apply takes the steps in order and stops at the first that is not allowed,
// fails, or does not have its effect. It returns how many were done: a step
// that was done without its effect counts.
func Apply(ctx context.Context, p Plan, look Look, do Actuator) (done int, err error) {
	for i, s := range p.Steps {
		if len(s.Guards) == 0 || len(s.Clears) == 0 {
			return i, fmt.Errorf("step %d not started: it has no guard, or nothing to show its effect", i+1)
		}
		if err := ctx.Err(); err != nil {
			return i, fmt.Errorf("step %d not started: %w", i+1, err)
		}
		if err := demand(s.Guards, look(ctx, s.Guards)); err != nil {
			return i, fmt.Errorf("step %d not started: %w", i+1, err)
		}
		if err := do.Do(ctx, s.Action); err != nil {
			return i, fmt.Errorf("step %d: %w", i+1, err)
		}
		if err := demand(s.Clears, look(ctx, s.Clears)); err != nil {
			return i + 1, fmt.Errorf("step %d done, without its effect: %w", i+1, err)
		}
	}
	return len(p.Steps), nil
}

// demand returns an error unless each check has a verdict and every verdict is
// OK. Advice does not stop a step; unknown and out of scope do, since neither
// says that it is safe.
func demand(want []*checks.Check, fs []checks.Finding) error {
	judged := map[checks.ID]bool{}
	for _, f := range fs {
		judged[f.Check] = true
		if f.Status != checks.OK && f.Status != checks.Info {
			return fmt.Errorf("%s is %s on %s: %s", f.Check, f.Status, f.Target, f.Summary)
		}
	}
	for _, c := range want {
		if !judged[c.ID] {
			return fmt.Errorf("%s gave no verdict", c.ID)
		}
	}
	return nil
}
