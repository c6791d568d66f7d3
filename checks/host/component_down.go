package host

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed component_down.md
var componentDownDoc string

// ComponentDown looks whether every part of the control plane runs.
var ComponentDown = &checks.Check{
	ID:        "host-component-down",
	Component: collectors.Host,
	Title:     "every part of the control plane runs",
	Doc:       componentDownDoc,
	Needs:     []collectors.Any{host.Nodes, host.Ends},
	Remedies: []checks.Remedy{
		{Title: "see what it said last", Command: `crictl ps -a --name {name} -q | head -1 | xargs crictl logs --tail 30`, Risk: checks.ReadOnly},
		{Title: "see what the kubelet says", Command: `journalctl -u kubelet -n 50 --no-pager`, Risk: checks.ReadOnly},
	},
	Run: componentDown,
}

func componentDown(p *checks.Pass) {
	n, ok := withProcesses(p)
	if !ok {
		return
	}
	ends, egap := checks.One(p, host.Ends)
	for _, r := range host.Components {
		m, planned := n.Manifest(r)
		ps := n.Of(r)
		if !planned && len(ps) == 0 {
			continue // host-manifest-missing tells of it
		}
		t := roleTarget(p, r)
		if len(ps) > 0 {
			p.OK(t, "it runs since %s", age(p, ps[0])).Saw(host.Nodes, "pid", fmt.Sprint(ps[0].PID), "", "")
			continue
		}
		if !n.InItsNetwork() {
			p.Unknown(t, collectors.Gapf(collectors.NoPath, "ktriage runs in another network than the node's control plane, and cannot tell its processes from others").With("run it in the host's network"))
			continue
		}
		tail, has := ends.Of(r)
		cause, line := tail.Why()
		v := p.Critical(t, "%s does not run%s", r, said(line, cause))
		v.Saw(host.Nodes, "manifest", m.Path, "", "")
		if has {
			v.Saw(host.Ends, "log", tail.Path, "", "")
			if !tail.Last.IsZero() {
				v.Saw(host.Ends, "last line", tail.Last.UTC().Format(time.RFC3339), "", "")
			}
		} else if egap == nil && len(ends.Missed) > 0 {
			v.Saw(host.Ends, "log", ends.Missed[0].Gap().Error(), "", "")
		}
		v.Mark("role="+string(r), "says="+string(cause), "why=down")
	}
}
