package scheduler

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed stale_cache.md
var staleCacheDoc string

// StaleCache looks for a scheduler that knows other nodes than there are.
var StaleCache = &checks.Check{
	ID:        "scheduler-stale-cache",
	Component: collectors.Scheduler,
	Title:     "the scheduler knows the nodes that there are",
	Doc:       staleCacheDoc,
	Needs:     []collectors.Any{scheduler.Tallies, scheduler.Elected.Leads, cluster.NodeSummary},
	Remedies: []checks.Remedy{
		{Title: "read whether its watches end", Command: "kubectl -n kube-system logs kube-scheduler-{node} --tail=500 | grep -iE 'watch|reflector'", Risk: checks.ReadOnly},
		{Title: "on the node, end its container: another instance takes over, and the kubelet starts it again", Command: "crictl stop $(crictl ps -q --name kube-scheduler)", Risk: checks.Disruptive},
	},
	Run: staleCache,
}

// staleShare is RULES' number, and aFewNodes are always on their way. Both are
// experience.
const (
	staleShare = 0.05
	aFewNodes  = 2
)

func staleCache(p *checks.Pass) {
	nodes, nodesGap := checks.One(p, cluster.NodeSummary)
	for t, n := range leases.EachLeader(p, scheduler.Elected, scheduler.Tallies) {
		switch {
		case !n.HasNodes:
			p.Nothing(t, "this version does not say how many nodes it knows")
			continue
		case nodesGap != nil:
			p.Unknown(t, nodesGap)
			continue
		case n.Broken != "":
			p.Unknown(t, collectors.Gapf(collectors.Absent, "whether it knew as many nodes before is not known: %s", n.Broken))
			continue
		}
		// The nodes were listed between the two looks: what joins or leaves
		// meanwhile is on one side at one of them.
		all := float64(nodes.Count)
		limit := max(staleShare*all, aFewNodes-1)
		s := checks.OK
		if off, before := n.Nodes-all, n.NodesBefore-all; math.Abs(off) > limit && math.Abs(before) > limit && off*before > 0 {
			s = checks.Warning
		}
		p.Judge(t, s, "knows %.0f nodes, of %d that there are, and %.0f at the look before", n.Nodes, nodes.Count, n.NodesBefore).
			Saw(scheduler.Tallies, "nodes", fmt.Sprint(n.Nodes), fmt.Sprint(nodes.Count), errorsSource).Number("off", n.Nodes-all)
	}
}
