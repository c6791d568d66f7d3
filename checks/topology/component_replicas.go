package topology

import (
	_ "embed"
	"strconv"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed component_replicas.md
var componentReplicasDoc string

// ComponentReplicas compares how many there are of each component.
var ComponentReplicas = &checks.Check{
	ID:        "ha-component-replicas",
	Component: collectors.Topology,
	Title:     "there are as many schedulers and controller managers as API servers",
	Doc:       componentReplicasDoc,
	Needs:     []collectors.Any{cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see what runs where", Command: "kubectl -n kube-system get pods -l tier=control-plane -o wide", Risk: checks.ReadOnly},
	},
	Run: componentReplicas,
}

func componentReplicas(p *checks.Pass) {
	by, ok := pods(p, target("components"))
	if !ok {
		return
	}
	apis := len(by[cluster.RoleAPIServer])
	if apis == 0 {
		p.Nothing(target("components"), "no API server runs as a pod")
		return
	}
	for _, r := range []cluster.Role{cluster.RoleScheduler, cluster.RoleControllers} {
		n := len(by[r])
		if n == 0 {
			continue // embedded, or static-pod-missing's
		}
		s, words := checks.OK, "%s of %s for %s"
		if n < apis {
			s, words = checks.Info, "%s of %s for %s: the loss of those nodes is worse than it need be"
		}
		if n == 1 && apis > 1 {
			words = "%s of %s for %s: with its node nobody takes over"
		}
		p.Judge(target(string(r)), s, words, checks.Count(n, "instance"), r, checks.Count(apis, "API server")).
			Saw(cluster.Instances, string(r), itoa(n), itoa(apis), "good practice: one of each on every control-plane node")
	}
	if len(by[cluster.RoleScheduler])+len(by[cluster.RoleControllers]) == 0 {
		p.Nothing(target("components"), "neither scheduler nor controller manager runs as a pod")
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
