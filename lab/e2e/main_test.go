// Package e2e tries ktriage on a real control plane, well and broken.
//
// The program under test is named by KTRIAGE_BIN. The lab is the one that runs
// in KTRIAGE_LAB_DIR, or a new one.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/faults"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == superviseCommand {
		if err := cluster.Supervise(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := theLab.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	// Once more, where the reader of a long log looks first.
	for _, f := range wrong.all {
		fmt.Println(f)
	}
	os.Exit(code)
}

// wrong is what ktriage said that is not true, by test.
var wrong struct {
	mu  sync.Mutex
	all []string
}

func notTrue(t *testing.T, what string) {
	t.Helper()
	t.Error(what)
	wrong.mu.Lock()
	defer wrong.mu.Unlock()
	wrong.all = append(wrong.all, "--- WRONG: "+t.Name()+": "+what)
}

// superviseCommand lets this test binary be the supervisor of the labs it
// starts.
const superviseCommand = "supervise"

// theLab is the lab that the tests share.
var theLab shared

type shared struct {
	mu   sync.Mutex
	lab  *cluster.Lab
	mine bool
	err  error
}

// get returns the lab, healthy and without a fault.
func (s *shared) get(t *testing.T) *cluster.Lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a lab makes network namespaces")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lab == nil && s.err == nil {
		s.err = s.start(t.Context())
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	if name := s.lab.Fault(); name != "" {
		t.Fatalf("fault %s is in place", name)
	}
	if err := s.lab.WaitHealthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.lab
}

func (s *shared) start(ctx context.Context) error {
	if dir := os.Getenv(cluster.DirEnv); dir != "" {
		lab, err := cluster.Open(dir)
		if err != nil {
			return err
		}
		_, err = lab.Supervisor.Status(ctx)
		s.lab = lab
		return err
	}
	dir, err := os.MkdirTemp("", "ktriage-e2e-")
	if err != nil {
		return err
	}
	s.lab, err = up(ctx, cluster.Options{Dir: dir})
	s.mine = true
	return err
}

// heal undoes f and waits for health. If f leaves scars, a lab of the tests' own
// is replaced by a new one instead, which is faster than most healing.
func (s *shared) heal(ctx context.Context, f faults.Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mine || !f.Scars {
		return faults.Heal(ctx, s.lab)
	}
	opts := s.lab.Options
	if s.err = cluster.Down(ctx, opts.Dir); s.err == nil {
		s.lab, s.err = up(ctx, opts)
	}
	return s.err
}

func (s *shared) stop() error {
	if !s.mine || s.lab == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := cluster.Down(ctx, s.lab.Options.Dir); err != nil {
		return err
	}
	if s.err != nil {
		fmt.Fprintf(os.Stderr, "logs are kept in %s\n", s.lab.Options.Dir)
		return nil
	}
	return os.RemoveAll(s.lab.Options.Dir)
}

// up starts a lab, building it first if need be.
func up(ctx context.Context, opts cluster.Options) (*cluster.Lab, error) {
	module, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	if _, err := build.Ensure(ctx, module, opts.Versions(), os.Stderr); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return cluster.Up(ctx, opts, []string{self, superviseCommand}, os.Stderr)
}
