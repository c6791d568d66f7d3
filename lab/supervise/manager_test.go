package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

func TestAProcessThatExitsIsStartedAgain(t *testing.T) {
	m := manage(t, "echo hello; exit 3")
	s := await(t, m, func(s State) bool { return s.Restarts >= 1 && !s.Running() })
	if s.LastExit != "exit status 3" {
		t.Errorf("got last exit %q", s.LastExit)
	}
}

func TestAHeldProcessStaysDownUntilReleased(t *testing.T) {
	m := manage(t, "exec sleep 1000")
	first := await(t, m, State.Running).PID
	if err := m.Hold("p", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if s := await(t, m, func(s State) bool { return !s.Running() }); s.LastExit != "signal: killed" || !s.Held {
		t.Errorf("got %+v, want held and killed", s)
	}
	if err := m.Release("p"); err != nil {
		t.Fatal(err)
	}
	s := await(t, m, State.Running)
	if s.PID == first || s.Held {
		t.Errorf("got %+v, want a new process", s)
	}
	if s.Restarts != 0 {
		t.Errorf("got %d restarts, want none: it was held on purpose", s.Restarts)
	}
}

func TestStartReplacesAProcess(t *testing.T) {
	m := manage(t, "exec sleep 1000")
	first := await(t, m, State.Running).PID
	if err := m.Start(spec(t, "exec sleep 2000")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(first, 0); err == nil {
		t.Error("the old process still runs")
	}
	if got := len(m.States()); got != 1 {
		t.Errorf("got %d processes, want 1", got)
	}
}

func TestStartOfAMissingProgramFails(t *testing.T) {
	s := spec(t, "")
	s.Path = filepath.Join(t.TempDir(), "missing")
	if err := NewManager().Start(s); err == nil {
		t.Error("got no error")
	}
}

func TestUnknownNamesAreErrors(t *testing.T) {
	m := NewManager()
	for name, err := range map[string]error{
		"hold": m.Hold("x", syscall.SIGKILL), "release": m.Release("x"),
		"signal": m.Signal("x", syscall.SIGSTOP), "stop": m.Stop("x"),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestLogHasTheLineFormatOfContainerRuntimes(t *testing.T) {
	m := manage(t, `printf 'one\ntwo\n' >&2; exec sleep 1000`)
	s := await(t, m, State.Running)
	var text []byte
	want := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z stderr F one\n\d{4}\S+Z stderr F two\n$`)
	if !eventually(func() bool {
		text, _ = os.ReadFile(s.Log)
		return want.Match(text)
	}) {
		t.Errorf("got log %q, want %s", text, want)
	}
}

func manage(t *testing.T, script string) *Manager {
	t.Helper()
	m := NewManager()
	t.Cleanup(m.StopAll)
	if err := m.Start(spec(t, script)); err != nil {
		t.Fatal(err)
	}
	return m
}

func spec(t *testing.T, script string) Spec {
	return Spec{
		Name: "p", Path: "/bin/sh", Args: []string{"-c", script}, Keep: true,
		Log: filepath.Join(t.TempDir(), fmt.Sprint(len(script), ".log")),
	}
}

func await(t *testing.T, m *Manager, ok func(State) bool) State {
	t.Helper()
	var s State
	if !eventually(func() bool {
		s, _ = m.State("p")
		return ok(s)
	}) {
		t.Fatalf("the process stays at %+v", s)
	}
	return s
}

// eventually waits for another process: there is nothing to be told by.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}
