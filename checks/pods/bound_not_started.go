package pods

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
)

//go:embed bound_not_started.md
var boundNotStartedDoc string

// BoundNotStarted looks for pods that have a node whose kubelet does not take
// them up.
var BoundNotStarted = &checks.Check{
	ID:        "pod-bound-not-started",
	Component: collectors.Pods,
	Title:     "kubelets take up the pods that are placed on their nodes",
	Doc:       boundNotStartedDoc,
	Needs:     []collectors.Any{pods.Pending},
	Remedies: []checks.Remedy{
		{Title: "see whether the node's kubelet is there", Command: "kubectl describe node {node}", Risk: checks.ReadOnly},
		{Title: "on the node, read the kubelet's log", Command: "journalctl -u kubelet -n 200", Risk: checks.ReadOnly},
	},
	Run: boundNotStarted,
}

const (
	// notStartedFor is far more than a kubelet needs to acknowledge a pod: it
	// is told by a watch. It is experience, so it ends at a warning.
	notStartedFor = 2 * time.Minute
	// maxNodes is how many nodes get a finding of their own. If it is more, it
	// is not the nodes.
	maxNodes = 5
)

func boundNotStarted(p *checks.Pass) {
	c, gap := checks.One(p, pods.Pending)
	if gap != nil {
		p.Unknown(pods.All, gap)
		return
	}
	var nodes []pods.Group
	for _, g := range c.By(pods.NotStarted) {
		if g.Past2m > 0 {
			nodes = append(nodes, g)
		}
	}
	switch {
	case len(nodes) == 0:
		p.OK(pods.All, "of %s none waits for its kubelet to take it up for longer than %s", checks.Count(c.Total, "pending pod"), checks.Span(notStartedFor)).
			Saw(pods.Pending, "not started", fmt.Sprint(c.Sum(pods.NotStarted).Count), "", "")
	case len(nodes) > maxNodes:
		all := c.Sum(pods.NotStarted)
		var names []string
		for _, g := range nodes {
			names = append(names, g.Key)
		}
		saw(p.Warn(pods.All, "kubelets of %d nodes have not taken up %s in up to %s (%s): %s", len(nodes), checks.Count(all.Past2m, "pod"), checks.Span(all.Oldest), all.Example, checks.List(names, 3)), all)
	default:
		for _, g := range nodes {
			t := collectors.Target{Component: collectors.Pods, Name: g.Key, Node: g.Key}
			saw(p.Warn(t, "the kubelet has not taken up %s in up to %s (%s)", checks.Count(g.Past2m, "pod"), checks.Span(g.Oldest), g.Example), g)
		}
	}
}

func saw(v *checks.Verdict, g pods.Group) {
	v.Saw(pods.Pending, "not started", fmt.Sprint(g.Past2m), "0", "").
		Saw(pods.Pending, "oldest", checks.Span(g.Oldest), checks.Span(notStartedFor), "experience; no public source").
		Number("pods", float64(g.Past2m)).Number("oldest", g.Oldest.Seconds())
}
