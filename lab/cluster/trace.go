package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ktriage/ktriage/lab/supervise"
)

// DelaySync makes each fdatasync of a component take that much longer, as a slow
// disk would: etcd syncs its log with it before it answers a write.
func (l *Lab) DelaySync(ctx context.Context, c Component, delay time.Duration) error {
	state, err := l.Supervisor.State(ctx, c.Name())
	if err != nil {
		return err
	}
	if !state.Running() {
		return fmt.Errorf("delay syncs of %s: it does not run", c.Name())
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		return fmt.Errorf("strace is missing (run apt-get install strace): %w", err)
	}
	err = l.Supervisor.Start(ctx, supervise.Spec{
		Name: tracer(c),
		Path: strace,
		Args: []string{
			"-f", "-qq", "-o", "/dev/null", "-p", fmt.Sprint(state.PID), "-e", "trace=fdatasync",
			"-e", fmt.Sprintf("inject=fdatasync:delay_enter=%d", delay.Microseconds()),
		},
		Log: l.Options.LogFile(tracer(c)),
	})
	if err != nil {
		return fmt.Errorf("trace %s: %w", c.Name(), err)
	}
	return Until(ctx, attachTimeout, "strace to attach to "+c.Name(), func(context.Context) error {
		traced, err := tracedThreads(state.PID)
		if err == nil && !traced {
			err = fmt.Errorf("a thread of process %d is not traced", state.PID)
		}
		return err
	})
}

// attachTimeout is generous: strace attaches at once.
const attachTimeout = 10 * time.Second

// SpeedUpSync ends DelaySync, if it is in effect.
func (l *Lab) SpeedUpSync(ctx context.Context, c Component) error {
	status, err := l.Supervisor.Status(ctx)
	if err != nil {
		return err
	}
	for _, p := range status.Procs {
		if p.Name == tracer(c) {
			return l.Supervisor.Stop(ctx, tracer(c))
		}
	}
	return nil
}

func tracer(c Component) string { return "strace-" + c.Name() }

// tracedThreads says whether all threads of a process are traced.
func tracedThreads(pid int) (bool, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return false, err
	}
	for _, task := range tasks {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
		if err != nil {
			continue // it ended meanwhile
		}
		if strings.Contains(string(status), "\nTracerPid:\t0\n") {
			return false, nil
		}
	}
	return true, nil
}
