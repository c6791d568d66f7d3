package e2e

import (
	"os"
	"testing"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/matrix"
)

// ktriage is the program under test. A test calls it first: without one there is
// no need for a lab.
func ktriage(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("KTRIAGE_BIN")
	if bin == "" {
		t.Skip("KTRIAGE_BIN does not name the ktriage to test")
	}
	return bin
}

// doctor runs ktriage doctor with the administrator's kubeconfig.
func doctor(t *testing.T, lab *cluster.Lab, flags ...string) matrix.Report {
	t.Helper()
	r, err := matrix.Doctor(t.Context(), ktriage(t), lab, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the report was:\n%s", r)
		}
	})
	return r
}
