package nodes

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed uninitialized.md
var uninitializedDoc string

// Uninitialized looks for nodes that the cloud controller manager does not
// take up: hardly any pod may run on them.
var Uninitialized = &checks.Check{
	ID:        "ccm-uninitialized-nodes",
	Component: collectors.Nodes,
	Title:     "every node is initialised by the cloud controller manager",
	Doc:       uninitializedDoc,
	Needs:     []collectors.Any{nodes.Uninitialized, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "see whether the cloud controller manager runs, and whether it tolerates the taint itself", Command: "kubectl -n kube-system get pods -o wide | grep cloud-controller-manager", Risk: checks.ReadOnly},
		{Title: "read what it says of the nodes: that it leads does not mean that it works", Command: "kubectl -n kube-system logs -l k8s-app=cloud-controller-manager --tail=100", Risk: checks.ReadOnly},
		{Title: "compare its version with that of Kubernetes, and its credentials with the cloud's", Command: "kubectl version", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{uninitializedWarnAt},
	Run:        uninitialized,
}

const (
	// uninitializedWarn is how long a cloud may take over a new node [exp]. It
	// never goes beyond a warning: no public source has a number.
	uninitializedWarn   = 2 * time.Minute
	uninitializedSource = "heuristic"
)

var uninitializedWarnAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(uninitializedWarn), "that a node waits for its cloud provider", uninitializedSource)

func uninitialized(p *checks.Pass) {
	w, gap := checks.One(p, nodes.Uninitialized)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	if w.Count == 0 {
		p.OK(nodes.All, "none of %s waits for a cloud controller manager", checks.Count(w.All, "node")).
			Saw(nodes.Uninitialized, "waiting", "0", "", "")
		return
	}
	of := fmt.Sprintf("%d of %s", w.Count, checks.Count(w.All, "node"))
	verb := "wait"
	if w.Count == 1 {
		verb = "waits"
	}
	skew, gap := checks.One(p, cluster.Clock)
	switch {
	case gap != nil:
		p.Unknown(nodes.All, gap)
		return
	case w.Oldest.IsZero():
		p.Unknown(nodes.All, collectors.Gapf(collectors.Absent, "%s %s for the cloud controller manager, and none says since when it exists", of, verb))
		return
	}
	age := p.Now().Add(skew).Sub(w.Oldest)
	status := checks.OK
	if age > p.Span(uninitializedWarnAt) {
		status = checks.Warning
	}
	p.Judge(nodes.All, status, "%s %s for the cloud controller manager, the first for %s: %s", of, verb, checks.Span(age), checks.List(w.Names, 3)).
		Saw(nodes.Uninitialized, "waiting", fmt.Sprint(w.Count), "0", "").
		Saw(nodes.Uninitialized, "oldest", checks.Span(age), checks.Span(p.Span(uninitializedWarnAt)), uninitializedSource).
		Number("nodes", float64(w.Count)).Number("age", age.Seconds())
}
