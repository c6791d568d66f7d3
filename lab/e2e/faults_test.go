package e2e

import (
	"context"
	"testing"

	"github.com/ktriage/ktriage/lab/faults"
	"github.com/ktriage/ktriage/lab/matrix"
)

// TestFaults breaks the lab in some ways; lab matrix does it in all. The first
// problem of ktriage's report must be the cause, and what follows from it a
// symptom.
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
			for _, what := range matrix.Judge(doctor(t, lab, matrix.EtcdFlags(lab)...), f) {
				notTrue(t, what)
			}
		})
	}
}
