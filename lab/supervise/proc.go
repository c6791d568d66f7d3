package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/ktriage/ktriage/lab/netns"
)

// A crashing process is restarted after one second, then two, four and so on.
// A kubelet begins at 10 s and ends at 5 min: too long for a lab's patience.
const (
	firstBackoff = time.Second
	maxBackoff   = 10 * time.Second
)

// proc is a process and the goroutine that keeps it.
type proc struct {
	spec Spec
	log  *logFile

	mu       sync.Mutex
	state    State
	crashes  int
	gone     bool // stopped for good
	changed  chan struct{}
	finished chan struct{}
}

func newProc(spec Spec) (*proc, error) {
	log, err := openLog(spec.Log)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", spec.Name, err)
	}
	p := &proc{
		spec:     spec,
		log:      log,
		state:    State{Spec: spec},
		changed:  make(chan struct{}, 1),
		finished: make(chan struct{}),
	}
	first := make(chan error, 1)
	go p.keep(first)
	if err := <-first; err != nil {
		return nil, err
	}
	return p, nil
}

// keep runs the process until it is stopped for good. The first start's error
// goes to its caller: a wrong path is no crash loop.
func (p *proc) keep(first chan<- error) {
	defer close(p.finished)
	defer p.log.close()
	backoff := firstBackoff
	for first := first; ; first = nil {
		started := time.Now()
		cmd, err := p.start()
		if first != nil {
			first <- err
			if err != nil {
				return
			}
		}
		exit := err
		if err == nil {
			exit = cmd.Wait()
		}
		p.exited(exit)
		if time.Since(started) > maxBackoff {
			backoff = firstBackoff
		}
		if !p.wait(backoff) {
			return
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

func (p *proc) start() (*exec.Cmd, error) {
	path, args := p.spec.Path, p.spec.Args
	if path == Self {
		path, args = "/proc/self/exe", os.Args[1:]
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), p.spec.Env...)
	cmd.Stdout, cmd.Stderr = p.log.stream("stdout"), p.log.stream("stderr")
	cmd.WaitDelay = time.Second
	// Pdeathsig: what the supervisor started dies with it, whatever kills it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return nil, errors.New("stopped")
	}
	start := cmd.Start
	if p.spec.Hostname != "" {
		start = func() error { return netns.WithHostname(p.spec.Hostname, cmd.Start) }
	}
	if err := netns.Do(p.spec.Netns, start); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.spec.Name, err)
	}
	p.state.PID, p.state.StartedAt, p.state.Restarts = cmd.Process.Pid, time.Now(), p.crashes
	return cmd, nil
}

func (p *proc) exited(exit error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes++
	p.state.PID, p.state.ExitedAt, p.state.LastExit = 0, time.Now(), "exit status 0"
	if exit != nil {
		p.state.LastExit = exit.Error()
	}
	p.log.line("stderr", fmt.Appendf(nil, "supervisor: %s: %s", p.spec.Name, p.state.LastExit))
}

// wait says whether to start again, and when: after the backoff, or when a held
// process is let go.
func (p *proc) wait(backoff time.Duration) bool {
	timer := time.NewTimer(backoff)
	defer timer.Stop()
	due := false
	for {
		p.mu.Lock()
		held, gone := p.state.Held, p.gone || !p.spec.Keep
		p.mu.Unlock()
		switch {
		case gone:
			return false
		case due && !held:
			return true
		}
		select {
		case <-timer.C:
			due = true
		case <-p.changed:
			due = true // let go by hand: start at once
		}
	}
}

func (p *proc) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// signal sends sig to the process if it runs.
func (p *proc) signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.PID == 0 {
		return fmt.Errorf("signal %s: not running", p.spec.Name)
	}
	return syscall.Kill(p.state.PID, sig)
}

// hold ends the process and keeps it down until release.
func (p *proc) hold(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Held = true
	if p.state.PID == 0 {
		return nil
	}
	return syscall.Kill(p.state.PID, sig)
}

// release starts a held process again, as new: what was done to it on purpose
// does not count as a crash.
func (p *proc) release() {
	p.mu.Lock()
	p.state.Held = false
	p.forgetLocked()
	p.mu.Unlock()
	p.poke()
}

// forget lets the process look as if it had never ended.
func (p *proc) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetLocked()
}

func (p *proc) forgetLocked() {
	p.crashes, p.state.Restarts, p.state.LastExit, p.state.ExitedAt = 0, 0, "", time.Time{}
}

// stop ends the process for good and waits until it is gone. It is asked
// politely first: strace must get to let go of what it traces.
func (p *proc) stop(grace time.Duration) {
	p.mu.Lock()
	p.gone = true
	pid := p.state.PID
	if pid != 0 {
		syscall.Kill(pid, syscall.SIGCONT)
		syscall.Kill(pid, syscall.SIGTERM)
	}
	p.mu.Unlock()
	p.poke()
	select {
	case <-p.finished:
		return
	case <-time.After(grace):
	}
	if pid != 0 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.finished
}

func (p *proc) snapshot() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}
