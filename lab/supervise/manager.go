package supervise

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end by itself.
const stopGrace = 2 * time.Second

// Manager holds the processes of a lab.
type Manager struct {
	mu    sync.Mutex
	procs map[string]*proc
}

// NewManager returns a manager of no processes.
func NewManager() *Manager { return &Manager{procs: map[string]*proc{}} }

// Start runs spec. A process of that name that is already there is stopped
// first, so Start also changes a running component's flags.
func (m *Manager) Start(spec Spec) error {
	m.mu.Lock()
	old := m.procs[spec.Name]
	m.mu.Unlock()
	if old != nil {
		old.stop(stopGrace)
	}
	p, err := newProc(spec)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.procs[spec.Name] = p
	return nil
}

// Hold ends a process with sig and keeps it down until Release.
func (m *Manager) Hold(name string, sig syscall.Signal) error {
	p, err := m.find(name)
	if err != nil {
		return err
	}
	return p.hold(sig)
}

// Release starts a held process again.
func (m *Manager) Release(name string) error {
	p, err := m.find(name)
	if err != nil {
		return err
	}
	p.release()
	return nil
}

// Forget lets all processes look as if they had never crashed.
func (m *Manager) Forget() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.forget()
	}
	return nil
}

// Signal sends sig to a running process: SIGSTOP freezes it, SIGCONT wakes it,
// SIGKILL lets it be restarted.
func (m *Manager) Signal(name string, sig syscall.Signal) error {
	p, err := m.find(name)
	if err != nil {
		return err
	}
	return p.signal(sig)
}

// Stop ends a process and forgets it.
func (m *Manager) Stop(name string) error {
	p, err := m.find(name)
	if err != nil {
		return err
	}
	p.stop(stopGrace)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.procs, name)
	return nil
}

// StopAll kills everything at once, without grace: the data goes too.
func (m *Manager) StopAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range m.procs {
		wg.Go(func() {
			p.hold(syscall.SIGKILL)
			p.stop(stopGrace)
		})
	}
	wg.Wait()
	clear(m.procs)
}

// States lists all processes by name.
func (m *Manager) States() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := make([]State, 0, len(m.procs))
	for _, p := range m.procs {
		states = append(states, p.snapshot())
	}
	slices.SortFunc(states, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return states
}

// State is the process of that name, if there is one.
func (m *Manager) State(name string) (State, bool) {
	p, err := m.find(name)
	if err != nil {
		return State{}, false
	}
	return p.snapshot(), true
}

func (m *Manager) find(name string) (*proc, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.procs[name]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("no process %s in this lab", name)
}
