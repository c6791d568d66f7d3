package host

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed port_taken.md
var portTakenDoc string

// PortTaken looks whether no other process has the ports of the control plane.
var PortTaken = &checks.Check{
	ID:        "host-port-taken",
	Component: collectors.Host,
	Title:     "no other process has the ports of the control plane",
	Doc:       portTakenDoc,
	Needs:     []collectors.Any{host.Nodes, host.Ends},
	Remedies: []checks.Remedy{
		{Title: "see whose it is", Command: `ss -ltnp | grep -E ":(2379|2380|6443|10257|10259) "`, Risk: checks.ReadOnly},
	},
	Run: portTaken,
}

func portTaken(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	ends, _ := checks.One(p, host.Ends)
	if g := missedOf(n, "listeners"); g != nil {
		p.Unknown(self(p), g)
		return
	}
	for _, r := range host.Components {
		if len(n.Args(r)) == 0 {
			continue
		}
		t := roleTarget(p, r)
		ps := n.Of(r)
		tail, _ := ends.Of(r)
		line, says := tail.Says(host.PortTaken)
		taken := false
		for _, port := range ports(n, r) {
			for _, l := range n.Listeners {
				if l.Port != port || l.PID != 0 && slices.ContainsFunc(ps, func(x host.Process) bool { return x.PID == l.PID }) {
					continue
				}
				who := "a process that ktriage may not see"
				if l.PID != 0 {
					who = fmt.Sprintf("%s (process %d)", l.Name, l.PID)
				}
				if l.PID == 0 && len(ps) > 0 && !says {
					continue // most likely its own
				}
				if len(ps) > 0 && !says {
					continue // a proxy of another address
				}
				taken = true
				v := p.Critical(t, "port %d of %s is taken by %s", port, r, who).Saw(host.Nodes, "listener", fmt.Sprintf("%s:%d", l.Addr, l.Port), "", "").Mark("role=" + string(r))
				if says {
					v.Saw(host.Ends, "log", line, "", "")
				}
				break
			}
			if taken {
				break
			}
		}
		if !taken {
			p.OK(t, "its ports are its own or free").Saw(host.Nodes, "listeners", fmt.Sprint(len(n.Listeners)), "", "")
		}
	}
}
