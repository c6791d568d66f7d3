package host

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed oom.md
var oomDoc string

// OOM looks whether no part of the control plane was ended for want of memory.
var OOM = &checks.Check{
	ID:        "host-oom",
	Component: collectors.Host,
	Title:     "no part of the control plane was ended for want of memory",
	Doc:       oomDoc,
	Needs:     []collectors.Any{host.Nodes, host.Kernels},
	Remedies: []checks.Remedy{
		{Title: "see who took the memory then", Command: `journalctl -k --since -1h | grep -A40 oom-kill`, Risk: checks.ReadOnly},
		{Title: "see what it may take", Command: `systemctl status kubelet && cat /sys/fs/cgroup/kubepods.slice/memory.max`, Risk: checks.ReadOnly},
	},
	Run: oom,
}

// oomRecent is how long ago a kill may be to matter today.
const oomRecent = 24 * time.Hour

// ours reports whether a kill was of this node's component: one of the same
// program in another's group, as of a test that runs here too, is not.
func ours(k host.Kill, n host.Node, r host.Role) bool {
	if strings.Contains(k.Task, "kubepods") || k.Machine && k.Task == "" {
		return true
	}
	for _, x := range n.Processes {
		if x.Role == r && !x.Away && (x.PID == k.PID || x.Cgroup != "" && x.Cgroup == k.Task) {
			return true
		}
	}
	return false
}

func oom(p *checks.Pass) {
	n, gap := checks.One(p, host.Nodes)
	if gap != nil {
		p.Unknown(self(p), gap)
		return
	}
	if !n.IsControlPlane() {
		p.Nothing(self(p), "no part of a control plane runs here")
		return
	}
	k, kgap := checks.One(p, host.Kernels)
	if kgap == nil && k.From == "" && len(k.Missed) > 0 {
		kgap = k.Missed[0].Gap()
	}
	for _, r := range host.Components {
		if _, planned := n.Manifest(r); !planned && len(n.Of(r)) == 0 {
			continue
		}
		t := roleTarget(p, r)
		var last host.Kill
		count := 0
		for _, x := range k.Kills {
			if x.Role() == r && p.Now().Sub(x.At) < oomRecent && ours(x, n, r) {
				last, count = x, count+1
			}
		}
		counted := uint64(0)
		for _, x := range n.Of(r) {
			if x.Kills != nil {
				counted += *x.Kills
			}
		}
		why := "its group's limit"
		if last.Machine {
			why = "the machine had no more"
		}
		switch {
		case count > 0:
			p.Critical(t, "the kernel ended %s for want of memory %s ago (%s): %s", r, checks.Span(p.Now().Sub(last.At)), why, checks.Count(count, "time")+" in the last day").
				Saw(host.Kernels, "kills", fmt.Sprint(count), "0", "the kernel's log").Mark("role=" + string(r))
		case counted > 0:
			p.Warn(t, "%s in the memory group of the %s that runs now", checks.Count(int64(counted), "process")+" ended for want of memory", r).
				Saw(host.Nodes, "kills", fmt.Sprint(counted), "0", "memory.events of its group")
		case kgap != nil:
			p.Unknown(t, kgap)
		default:
			p.OK(t, "the kernel's log, since %s, tells of no %s that was ended for want of memory", k.Since.Format(time.DateTime), r).Saw(host.Kernels, "kills", "0", "0", "")
		}
	}
}
