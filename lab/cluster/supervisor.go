package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
)

// Supervise is the life of a lab's supervisor: it boots the lab whose options
// are in dir, keeps it until it is asked to stop, and takes everything down.
func Supervise(ctx context.Context, dir string) error {
	if helper, err := help(ctx); helper {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opts, err := loadOptions(dir)
	if err != nil {
		return err
	}
	cache, err := build.CacheDir()
	if err != nil {
		return err
	}
	s := &supervisor{}
	procs := supervise.NewManager()
	defer func() {
		procs.StopAll()
		if err := opts.unmountDisks(); err != nil {
			log.Print(err)
		}
		// ctx has ended by now.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := opts.Network().Down(ctx); err != nil {
			log.Print(err)
		}
	}()
	served := make(chan error, 1)
	go func() { served <- supervise.Serve(ctx, opts.socket(), supervise.Handler(procs, s.get, stop)) }()

	b := &boot{opts: opts, bins: build.Paths(cache, opts.Versions()), procs: procs, phase: s.phase}
	start := time.Now()
	if err := b.run(ctx); err != nil && ctx.Err() == nil {
		log.Print(err)
		s.fail(err)
	} else if err == nil {
		procs.Forget() // what was restarted because it came too early
		log.Printf("ready after %s", time.Since(start).Round(100*time.Millisecond))
		s.ready()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return fmt.Errorf("serve %s: %w", opts.socket(), err)
	}
}

// stopTimeout bounds the tidying up.
const stopTimeout = 20 * time.Second

// supervisor is what the lab's status says about its boot.
type supervisor struct {
	mu     sync.Mutex
	status supervise.Status
}

func (s *supervisor) get() supervise.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.PID = os.Getpid()
	return status
}

func (s *supervisor) phase(phase string) {
	log.Print(phase)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Phase = phase
}

func (s *supervisor) ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Phase, s.status.Ready = "ready", true
}

func (s *supervisor) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Error = err.Error()
}

func loadOptions(dir string) (Options, error) {
	var opts Options
	text, err := os.ReadFile(Options{Dir: dir}.optionsFile())
	if errors.Is(err, os.ErrNotExist) {
		return opts, fmt.Errorf("no lab in %s: run up first", dir)
	}
	if err != nil {
		return opts, err
	}
	if err := json.Unmarshal(text, &opts); err != nil {
		return opts, fmt.Errorf("read options of the lab in %s: %w", dir, err)
	}
	return opts, nil
}

func (o Options) save() error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.optionsFile(), append(text, '\n'), 0o644)
}
