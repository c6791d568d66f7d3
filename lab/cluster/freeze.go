package cluster

import (
	"context"
	"fmt"
	"syscall"
)

// Freeze stops processes with SIGSTOP: they are there, hold what they hold, and
// answer nothing.
func (l *Lab) Freeze(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := l.Supervisor.Signal(ctx, name, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("freeze %s: %w", name, err)
		}
	}
	return nil
}

// Thaw lets processes that Freeze stopped go on. One that has ended meanwhile is
// no error: it is restarted anyway.
func (l *Lab) Thaw(ctx context.Context, names ...string) error {
	for _, name := range names {
		state, err := l.Supervisor.State(ctx, name)
		if err != nil {
			return err
		}
		if !state.Running() {
			continue
		}
		if err := l.Supervisor.Signal(ctx, name, syscall.SIGCONT); err != nil {
			return fmt.Errorf("thaw %s: %w", name, err)
		}
	}
	return nil
}

// Names are those of the processes of components.
func Names(components []Component) []string {
	var names []string
	for _, c := range components {
		names = append(names, c.Name())
	}
	return names
}

// WorkersKubelet is the process that plays the kubelets of all workers.
const WorkersKubelet = "kubelet-workers"
