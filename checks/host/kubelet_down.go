package host

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed kubelet_down.md
var kubeletDownDoc string

// KubeletDown looks whether the kubelet runs and is healthy.
var KubeletDown = &checks.Check{
	ID:        "host-kubelet-down",
	Component: collectors.Host,
	Title:     "the kubelet runs and is healthy",
	Doc:       kubeletDownDoc,
	Needs:     []collectors.Any{host.Nodes, host.Health},
	Remedies: []checks.Remedy{
		{Title: "see why", Command: `systemctl status kubelet && journalctl -u kubelet -n 50 --no-pager`, Risk: checks.ReadOnly},
		{Title: "start it", Command: `systemctl start kubelet`, Risk: checks.Safe},
	},
	Run: kubeletDown,
}

func kubeletDown(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	t := roleTarget(p, host.Kubelet)
	if g := missedOf(n, "processes"); g != nil {
		p.Unknown(t, g)
		return
	}
	if len(n.Manifests) == 0 {
		p.Nothing(t, "there are no static pods for it to run")
		return
	}
	if len(n.Of(host.Kubelet)) == 0 {
		p.Warn(t, "the kubelet does not run: what ends is not started again, and a change of a manifest has no effect").Saw(host.Nodes, "processes", "0", "1", "").Mark("role=kubelet")
		return
	}
	es, gap := checks.One(p, host.Health)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	for _, e := range es {
		if e.Role == host.Kubelet && !e.Healthy() {
			what := e.Failed
			if what == "" {
				what = fmt.Sprintf("%d: %s", e.Status, oneLine(e.Body))
			}
			p.Warn(t, "the kubelet answers %s with %s", e.URL, what).Saw(host.Health, "answer", what, "200", "").Mark("role=kubelet")
			return
		}
	}
	p.OK(t, "it runs since %s and says that it is healthy", age(p, n.Of(host.Kubelet)[0])).Saw(host.Nodes, "pid", fmt.Sprint(n.Of(host.Kubelet)[0].PID), "", "")
}
