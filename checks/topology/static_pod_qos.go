package topology

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed static_pod_qos.md
var staticPodQoSDoc string

// StaticPodQoS looks for components that the kernel throttles or that the kubelet may put out.
var StaticPodQoS = &checks.Check{
	ID:        "static-pod-qos",
	Component: collectors.Topology,
	Title:     "the control plane's pods come first on their nodes and are not throttled",
	Doc:       staticPodQoSDoc,
	Needs:     []collectors.Any{cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see requests, limits and priority", Command: "kubectl -n kube-system get pods -l tier=control-plane -o custom-columns=POD:.metadata.name,PRIORITY:.spec.priorityClassName,REQUESTS:.spec.containers[*].resources.requests,LIMITS:.spec.containers[*].resources.limits", Risk: checks.ReadOnly},
		{Title: "on each node, mend the manifest: requests for CPU, no limits, priorityClassName system-node-critical", Command: "vi /etc/kubernetes/manifests/{obj}.yaml", Risk: checks.Disruptive},
	},
	Run: staticPodQoS,
}

// nodeCritical is the priority that kubeadm gives its static pods. Source:
// cmd/kubeadm/app/util/staticpod.
const nodeCritical = "system-node-critical"

func staticPodQoS(p *checks.Pass) {
	by, ok := pods(p, target("pods"))
	if !ok {
		return
	}
	for _, r := range []cluster.Role{cluster.RoleEtcd, cluster.RoleAPIServer, cluster.RoleControllers, cluster.RoleScheduler} {
		for _, i := range by[r] {
			t := collectors.Target{Component: collectors.Topology, Name: "pod/" + i.Pod, Node: i.Node}
			var wrong []string
			if i.CPULimit != "" {
				wrong = append(wrong, "a limit of "+i.CPULimit+" CPU, above which it stands still until the next tenth of a second")
			}
			if i.MemLimit != "" && r != cluster.RoleScheduler && r != cluster.RoleControllers {
				wrong = append(wrong, "a limit of "+i.MemLimit+" memory, above which it is killed")
			}
			if i.Requests == "" {
				wrong = append(wrong, "no request for CPU, so that others come first")
			}
			if i.Priority != nodeCritical && i.Static {
				wrong = append(wrong, "another priority than "+nodeCritical)
			}
			if len(wrong) > 0 {
				p.Info(t, "it has %s", strings.Join(wrong, ", ")).
					Saw(cluster.Instances, "requests, limits, priority", strings.Join([]string{i.Requests, i.CPULimit, i.MemLimit, i.Priority}, ", "), "", "kubeadm's own manifests")
				continue
			}
			p.OK(t, "it has %s CPU for itself, no limit and the priority %s", i.Requests, i.Priority)
		}
	}
}
