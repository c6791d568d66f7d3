package main

import (
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ktriage":                  main,
		"kubectl-ktriage":          main,
		"kubectl_complete-ktriage": main,
		"etcd-member":              etcdMember,
	})
}

// TestScripts runs the command line's contract: what a user types, and what
// comes back on which stream with which exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir) // no kubeconfig of who runs the tests
			e.Setenv("KUBECONFIG", "")
			e.Values[etcdKey{}] = &members{}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "too-busy" {
				return false, fmt.Errorf("no condition %q", cond)
			}
			return tooBusy.Load(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"etcd":  etcd,
		},
	})
}
