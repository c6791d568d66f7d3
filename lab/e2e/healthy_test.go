package e2e

import (
	"slices"
	"testing"
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
	r := doctor(t, lab, etcdFlags(lab)...)
	wantHealthy(t, r)
	for _, f := range r.Findings {
		if f.Status == "unknown" {
			t.Errorf("%s %s is unknown", f.Check, f.Target)
		}
	}
}

func wantHealthy(t *testing.T, r report) {
	t.Helper()
	if r.exit != exitOK {
		t.Errorf("got exit code %d, want %d", r.exit, exitOK)
	}
	if len(r.Findings) == 0 {
		t.Error("got no findings: nothing was looked at")
	}
	for _, p := range r.Problems {
		if p.Status == "warning" || p.Status == "critical" {
			t.Errorf("got problem %s %s on a healthy cluster: %s", p.Check, p.Target, p.Summary)
		}
	}
	for _, f := range r.Findings {
		if f.Status == "warning" || f.Status == "critical" {
			t.Errorf("got %s from %s %s on a healthy cluster: %s", f.Status, f.Check, f.Target, f.Summary)
		}
	}
}
