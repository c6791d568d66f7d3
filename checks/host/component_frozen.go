package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed component_frozen.md
var componentFrozenDoc string

// ComponentFrozen looks whether no part of the control plane is stopped.
var ComponentFrozen = &checks.Check{
	ID:        "host-component-frozen",
	Component: collectors.Host,
	Title:     "no part of the control plane is stopped",
	Doc:       componentFrozenDoc,
	Needs:     []collectors.Any{host.Nodes},
	Remedies: []checks.Remedy{
		{Title: "see its state", Command: `ps -o pid,stat,wchan:30,comm -C {name}`, Risk: checks.ReadOnly},
		{Title: "let it go on", Command: `pkill -CONT -x {name}`, Risk: checks.Safe},
	},
	Run: componentFrozen,
}

func componentFrozen(p *checks.Pass) {
	n, ok := withProcesses(p)
	if !ok {
		return
	}
	seen := false
	for _, r := range host.Components {
		for _, x := range n.Of(r) {
			seen = true
			t := roleTarget(p, r)
			if x.State == "T" || x.State == "t" {
				p.Critical(t, "%s (process %d) is stopped by a signal or a debugger: it is there and does nothing", r, x.PID).
					Saw(host.Nodes, "state", x.State, "", "proc(5)").Mark("role=" + string(r))
				continue
			}
			p.OK(t, "its process %d is not stopped (state %s)", x.PID, x.State).Saw(host.Nodes, "state", x.State, "", "")
		}
	}
	if !seen {
		p.Nothing(self(p), "no part of the control plane runs")
	}
}
