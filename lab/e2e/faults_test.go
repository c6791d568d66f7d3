package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/ktriage/ktriage/lab/faults"
)

// TestFaults breaks the lab in some ways; lab matrix does it in all. The first problem of
// ktriage's report must be the cause, and what follows from it a symptom.
func TestFaults(t *testing.T) {
	ktriage(t)
	for _, f := range faults.Quick() {
		t.Run(f.Name, func(t *testing.T) {
			lab := theLab.get(t)
			// The test's own context has ended when this is called.
			t.Cleanup(func() {
				if err := theLab.heal(context.Background(), f); err != nil {
					t.Error(err)
				}
			})
			if err := faults.Inject(t.Context(), lab, f); err != nil {
				t.Fatal(err)
			}
			wantCause(t, doctor(t, lab, etcdFlags(lab)...), f)
		})
	}
}

func wantCause(t *testing.T, r report, f faults.Fault) {
	t.Helper()
	if r.exit == exitOK {
		t.Errorf("got exit code %d on a broken cluster", r.exit)
	}
	if len(r.Problems) == 0 {
		t.Fatal("got no problem")
	}
	first := r.Problems[0]
	if first.Check != f.Want.Check {
		t.Errorf("got first problem %s, want %s", first.Check, f.Want.Check)
	} else if f.Want.Target != "" && first.Target != f.Want.Target {
		t.Errorf("got %s of %s, want of %s", first.Check, first.Target, f.Want.Target)
	}
	for _, p := range r.Problems {
		if p.Check != f.Want.Check && !slices.Contains(f.Also, p.Check) {
			t.Errorf("got problem %s %s, which is not one of its own: %s", p.Check, p.Target, p.Summary)
		}
	}
}
