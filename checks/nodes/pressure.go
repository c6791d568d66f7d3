package nodes

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed pressure.md
var pressureDoc string

// Pressure looks for nodes that are short of memory, disk or process IDs.
var Pressure = &checks.Check{
	ID:        "node-pressure",
	Component: collectors.Nodes,
	Title:     "no node is short of memory, disk or process IDs",
	Doc:       pressureDoc,
	Needs:     []collectors.Any{nodes.Conditions, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "see its conditions and events", Command: "kubectl describe node {node}", Risk: checks.ReadOnly},
		{Title: "on the node, see what takes it up", Command: "df -h /var/lib/kubelet /var/lib/containerd /; free -m", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{pressedAt},
	Run:        pressure,
}

// pressed is how long a node may be short of something before that is trouble.
// Source: kubernetes-mixin KubeNodePressure, 10 minutes. On a node of the
// control plane, static pods compete with everything else from the first.
const (
	pressed       = 10 * time.Minute
	pressedSource = "kubernetes-mixin KubeNodePressure"
)

var pressedAt = checks.NewThreshold("time", checks.InSeconds, checks.Secs(pressed), "that a node is under pressure", pressedSource)

func pressure(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	if h.Pressed == 0 {
		p.OK(nodes.All, "of %s none is short of memory, disk or process IDs", checks.Count(h.All, "node")).
			Saw(nodes.Conditions, "pressure", "0", "0", "")
		return
	}
	at := now(p)
	if h.Pressed > each {
		longest := at.Sub(h.Pressure[0].Since)
		s := checks.Info
		if longest >= p.Span(pressedAt) || slices.ContainsFunc(h.Pressure, func(n nodes.Node) bool { return n.ControlPlane }) {
			s = checks.Warning
		}
		p.Judge(nodes.All, s, "%d of %s are short of something, the first for %s (%s): %s", h.Pressed, checks.Count(h.All, "node"), checks.Span(longest), h.Pressure[0].Condition, checks.List(names(h.Pressure), 3)).
			Saw(nodes.Conditions, "pressure", fmt.Sprint(h.Pressed), "0", pressedSource)
		return
	}
	by := map[string][]nodes.Node{}
	for _, n := range h.Pressure {
		by[n.Name] = append(by[n.Name], n)
	}
	for _, ns := range by {
		s, conditions := checks.Info, []string{}
		for _, n := range ns {
			if n.ControlPlane || at.Sub(n.Since) >= p.Span(pressedAt) {
				s = checks.Warning
			}
			conditions = append(conditions, n.Condition)
		}
		p.Judge(target(ns[0].Name), s, "%s for %s: %s", checks.List(conditions, 3), checks.Span(at.Sub(ns[0].Since)), ns[0].Message).
			Saw(nodes.Conditions, ns[0].Condition, checks.Span(at.Sub(ns[0].Since)), checks.Span(p.Span(pressedAt)), pressedSource)
	}
}
