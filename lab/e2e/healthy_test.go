package e2e

import (
	"slices"
	"testing"

	"github.com/ktriage/ktriage/lab/faults"
	"github.com/ktriage/ktriage/lab/matrix"
)

// TestHealthyWithKubeconfigOnly: without a client certificate for etcd there are
// things ktriage can't know. It must say so, and how to change that, and not
// cry wolf.
func TestHealthyWithKubeconfigOnly(t *testing.T) {
	ktriage(t)
	r := doctor(t, theLab.get(t))
	wantHealthy(t, r)
	for _, f := range r.Findings {
		if f.Status != "unknown" {
			continue
		}
		if f.Gap == nil {
			t.Errorf("%s %s is unknown without a reason", f.Check, f.Target)
			continue
		}
		if !slices.Contains([]string{"forbidden", "unreachable"}, f.Gap.Reason) {
			t.Errorf("%s %s: got reason %q, want forbidden or unreachable", f.Check, f.Target, f.Gap.Reason)
		}
		if f.Gap.Remedy == "" {
			t.Errorf("%s %s: no remedy for %s", f.Check, f.Target, f.Gap.Reason)
		}
	}
}

// TestHealthyWithEtcdClient: with all access there is nothing that can't be known.
func TestHealthyWithEtcdClient(t *testing.T) {
	ktriage(t)
	lab := theLab.get(t)
	r := doctor(t, lab, matrix.EtcdFlags(lab)...)
	wantHealthy(t, r)
	for _, f := range r.Findings {
		if f.Status == "unknown" {
			t.Errorf("%s %s is unknown", f.Check, f.Target)
		}
	}
}

func wantHealthy(t *testing.T, r matrix.Report) {
	t.Helper()
	for _, what := range matrix.Judge(r, faults.Fault{}) {
		notTrue(t, what)
	}
}
