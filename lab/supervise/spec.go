// Package supervise keeps a lab's processes running, as a kubelet would, and
// lets faults stop, freeze and replace them.
//
// One process owns all others. It is spoken to through a unix socket, and what
// it started dies with it: nothing of a lab survives its supervisor.
package supervise

import "time"

// Spec is a process to run.
type Spec struct {
	Name string
	// Netns is the network namespace it runs in; "" is the machine's own.
	Netns string
	// Hostname is what it takes its host to be called; "" is the machine's name.
	Hostname string
	Path     string
	Args     []string
	Env      []string
	// Log gets its output in the line format of container runtimes.
	Log string
	// Keep restarts the process whenever it exits.
	Keep bool
}

// Self as a Path means this very program, with the arguments it was started
// with; Env tells it to do something else.
const Self = "self"

// State is a process as it is now.
type State struct {
	Spec
	// PID is 0 while it does not run.
	PID int
	// Held means that it was taken down on purpose and is not restarted.
	Held      bool
	Restarts  int
	StartedAt time.Time
	// ExitedAt and LastExit tell of the previous run.
	ExitedAt time.Time
	LastExit string
}

// Running says whether there is a process (a frozen one counts).
func (s State) Running() bool { return s.PID != 0 }
