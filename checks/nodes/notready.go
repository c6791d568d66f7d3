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

//go:embed notready.md
var notReadyDoc string

// NotReady looks for nodes that cannot take pods.
var NotReady = &checks.Check{
	ID:        "node-notready",
	Component: collectors.Nodes,
	Title:     "every node in service is ready",
	Doc:       notReadyDoc,
	Needs:     []collectors.Any{nodes.Conditions, nodes.Leases, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "see its conditions and events", Command: "kubectl describe node {node}", Risk: checks.ReadOnly},
		{Title: "on the node, see what its kubelet says", Command: "systemctl status kubelet; journalctl -u kubelet --since -10min", Risk: checks.ReadOnly},
	},
	Run: notReady,
}

const (
	// settles is how long a node may say that it is not ready: its kubelet or its
	// runtime restarts. Experience; kubernetes-mixin KubeNodeNotReady waits for
	// 15 minutes. Silence has lasted for the grace period when it is told.
	settles = time.Minute
	// joins is how long a new node may take. Experience.
	joins = 5 * time.Minute
)

func notReady(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	at := now(p)
	excused := func(n nodes.Node) bool {
		return n.Cordoned || n.Virtual || at.Sub(n.Created) < joins || !n.Silent && at.Sub(n.Since) < settles
	}
	bad := slices.DeleteFunc(slices.Clone(h.NotReady), excused)
	if len(bad) == 0 {
		p.OK(nodes.All, "%d of %s are ready%s", h.All-h.Failing, checks.Count(h.All, "node"), others(h.NotReady)).
			Saw(nodes.Conditions, "not ready", fmt.Sprint(h.Failing), "0", "")
		return
	}
	quiet := silence(p)
	if n := h.Failing - (len(h.NotReady) - len(bad)); n > each {
		longest := max(at.Sub(bad[0].Since), quiet[bad[0].Name])
		v := p.Warn(nodes.All, "%d of %s are not ready, the first for %s: %s", n, checks.Count(h.All, "node"), checks.Span(longest), checks.List(names(bad), 3)).
			Saw(nodes.Conditions, "not ready", fmt.Sprint(n), "0", "").Number("nodes", float64(n))
		for _, n := range bad {
			v.Saw(nodes.Conditions, n.Name, n.Message, "", "").Mark("node=" + n.Name)
		}
		return
	}
	for _, n := range bad {
		since := checks.Span(at.Sub(n.Since))
		says := "says that it is not ready, for " + since
		if age, ok := quiet[n.Name]; n.Silent && ok {
			says = "has given no sign of life for " + checks.Span(age) + ", and has counted as gone for " + since
		} else if n.Silent {
			says = "has counted as gone for " + since
		}
		v := p.Warn(target(n.Name), "%s: %s", says, n.Message).
			Saw(nodes.Conditions, "Ready", n.Message, "True", "").Mark("node=" + n.Name)
		if n.ControlPlane {
			v.Mark("control-plane")
		}
		if n.Silent {
			v.Mark("silent")
		}
	}
}

// silence is how long ago the nodes of which little is heard renewed their
// lease. Since when a node is Unknown says less: it is so only after the grace
// period.
func silence(p *checks.Pass) map[string]time.Duration {
	out := map[string]time.Duration{}
	h, _ := checks.One(p, nodes.Leases)
	for _, b := range h.Late {
		out[b.Node] = b.Age
	}
	return out
}

// others mentions nodes that are not ready and need not be.
func others(ns []nodes.Node) string {
	if len(ns) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s only just not, new, virtual, or out of service", checks.List(names(ns), 3))
}
