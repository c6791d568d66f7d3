package cluster

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Starver lets a process run in slices only, as a processor that is shared with
// too many others does. Its disk and network stay as fast as ever.
type Starver struct {
	PID int
	// Off is how long the process stands, On how long it runs, in turns.
	Off, On time.Duration
}

func (s *Starver) run(ctx context.Context) error {
	exe := fmt.Sprintf("/proc/%d/exe", s.PID)
	program, err := os.Readlink(exe)
	if err != nil {
		return err
	}
	defer syscall.Kill(s.PID, syscall.SIGCONT)
	for ctx.Err() == nil {
		// The number may be another process's by now.
		if now, err := os.Readlink(exe); err != nil || now != program {
			return fmt.Errorf("process %d has ended", s.PID)
		}
		for _, turn := range []struct {
			signal syscall.Signal
			time   time.Duration
		}{{syscall.SIGSTOP, s.Off}, {syscall.SIGCONT, s.On}} {
			if err := syscall.Kill(s.PID, turn.signal); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(turn.time):
			}
		}
	}
	return nil
}

// Starve lets a component run in slices until Nourish.
func (l *Lab) Starve(ctx context.Context, c Component, off, on time.Duration) error {
	state, err := l.Supervisor.State(ctx, c.Name())
	if err != nil {
		return err
	}
	if !state.Running() {
		return fmt.Errorf("starve %s: it does not run", c.Name())
	}
	return l.StartHelper(ctx, starver(c), c.Node, Helper{Starver: &Starver{PID: state.PID, Off: off, On: on}})
}

// Nourish undoes Starve.
func (l *Lab) Nourish(ctx context.Context, c Component) error {
	if err := l.StopHelper(ctx, starver(c)); err != nil {
		return err
	}
	return l.Thaw(ctx, c.Name())
}

func starver(c Component) string { return "starver-" + c.Name() }
