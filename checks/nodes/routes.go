package nodes

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed routes.md
var routesDoc string

// Routes looks for nodes to whose pods no route leads.
var Routes = &checks.Check{
	ID:        "ccm-routes",
	Component: collectors.Nodes,
	Title:     "every node has a network for its pods",
	Doc:       routesDoc,
	Needs:     []collectors.Any{nodes.Conditions, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "read the condition NetworkUnavailable", Command: "kubectl describe node {node}", Risk: checks.ReadOnly},
		{Title: "read what makes the routes, the cloud controller manager or the network plugin, says", Command: "kubectl -n kube-system logs -l k8s-app=cloud-controller-manager --tail=100", Risk: checks.ReadOnly},
	},
	Run: routes,
}

func routes(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	at := now(p)
	bad := slices.DeleteFunc(slices.Clone(h.Unrouted), func(n nodes.Node) bool { return at.Sub(n.Created) < joins || at.Sub(n.Since) < settles })
	switch {
	case len(bad) == 0:
		p.OK(nodes.All, "of %s none says for long that it has no network", checks.Count(h.All, "node")).
			Saw(nodes.Conditions, "NetworkUnavailable", fmt.Sprint(h.Routeless), "0", "")
	case len(bad) > each:
		p.Warn(nodes.All, "%d of %s have no network for their pods, the first for %s: %s", len(bad), checks.Count(h.All, "node"), checks.Span(at.Sub(bad[0].Since)), checks.List(names(bad), 3)).
			Saw(nodes.Conditions, "NetworkUnavailable", fmt.Sprint(h.Routeless), "0", "")
	default:
		for _, n := range bad {
			p.Warn(target(n.Name), "has no network for its pods, for %s: %s", checks.Span(at.Sub(n.Since)), n.Message).
				Saw(nodes.Conditions, "NetworkUnavailable", n.Message, "False", "").Mark("node=" + n.Name)
		}
	}
}
