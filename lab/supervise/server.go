package supervise

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"syscall"
)

// Status is what a supervisor says about its lab.
type Status struct {
	PID int
	// Phase is what the boot is at, for people.
	Phase string
	Ready bool
	// Error ends a boot that did not succeed.
	Error string
	Procs []State
}

// command is a request to a supervisor; which fields count depends on the path.
type command struct {
	Name   string
	Signal syscall.Signal
	Spec   Spec
}

// Handler serves a manager to the clients of its socket. status adds what only
// the owner knows; shutdown asks it to end.
func Handler(m *Manager, status func() Status, shutdown func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		s := status()
		s.Procs = m.States()
		json.NewEncoder(w).Encode(s)
	})
	for path, do := range map[string]func(command) error{
		"start":    func(c command) error { return m.Start(c.Spec) },
		"hold":     func(c command) error { return m.Hold(c.Name, c.Signal) },
		"release":  func(c command) error { return m.Release(c.Name) },
		"signal":   func(c command) error { return m.Signal(c.Name, c.Signal) },
		"stop":     func(c command) error { return m.Stop(c.Name) },
		"forget":   func(command) error { return m.Forget() },
		"shutdown": func(command) error { shutdown(); return nil },
	} {
		mux.HandleFunc("POST /"+path, func(w http.ResponseWriter, r *http.Request) {
			var c command
			if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if err := do(c); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		})
	}
	return mux
}

// Serve answers on the unix socket at path until ctx ends.
func Serve(ctx context.Context, path string, handler http.Handler) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}
