package pending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

// maxChanges is how many ways a group is given. What comes behind them helps less
// or hurts more.
const maxChanges = 5

// maxAlike is how many changes of one sort a group is given, such as a taint taken
// off one node or another.
const maxAlike = 2

// changes works out what would get the example of a group running: proved on the
// model where there is one, else by what is known of the cause.
func (g *grouper) changes(x *Group) {
	s := subject{ns: word(x.pod.Namespace), name: x.pod.Name, owner: x.pod.Owner}
	if x.From == Model && x.Turn == Unschedulable {
		s.pod = g.in.World.Find(x.pod.Namespace, x.pod.Name)
		ways := g.model.Ways(s.pod)
		x.Changes = s.proved(ways.Changes)
		if len(x.Changes) == 0 && ways.None != "" {
			x.Evidence = append(x.Evidence, "no change is proposed: "+ways.None)
		}
	}
	if len(x.Changes) == 0 {
		x.Changes, x.Unproved = s.advice(*x), true
	}
}

// proved takes the changes that an operator would think of, those that bring a pod
// to nodes which are not for it last.
func (s subject) proved(cs []fit.Change) []Change {
	cs = slices.DeleteFunc(slices.Clone(cs), func(c fit.Change) bool { return slices.ContainsFunc(c.Edits, futile) })
	slices.SortStableFunc(cs, func(a, b fit.Change) int {
		return cmp.Compare(trespass(a), trespass(b))
	})
	var out []Change
	sorts := map[string]int{}
	for _, c := range cs {
		var sort []string
		for _, e := range c.Edits {
			sort = append(sort, string(e.Kind)+e.Of+e.Resource)
		}
		key := strings.Join(sort, " ")
		if sorts[key]++; sorts[key] > maxAlike {
			continue
		}
		if len(out) == maxChanges {
			break
		}
		x := s.change(c)
		if trespass(c) > 0 {
			x.Waits = strings.TrimPrefix(x.Waits+"; "+notForIt, "; ")
		}
		out = append(out, x)
	}
	return out
}

const notForIt = "these nodes are meant for the control plane"

// ownTaints keep pods off nodes that are for others; those of nodes that are ill
// tell of the illness, and a pod that bears with it does not run there either.
var (
	ownTaints = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd"}
	illTaints = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
		corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable, "node.cloudprovider.kubernetes.io/uninitialized"}
)

func futile(e fit.Edit) bool {
	return e.Taint != nil && e.Kind != fit.MendNode && slices.Contains(illTaints, e.Taint.Key)
}

// trespass is 1 for what would bring pods to nodes that are for others.
func trespass(c fit.Change) int {
	for _, e := range c.Edits {
		if e.Taint != nil && slices.Contains(ownTaints, e.Taint.Key) {
			return 1
		}
	}
	return 0
}

func (s subject) change(c fit.Change) Change {
	out := Change{Summary: c.Summary, Harm: c.Harm, Node: c.Node, Nodes: c.Nodes, Waits: c.Waits, Edits: c.Edits, Commands: []string{}}
	// Terms go by their places: the last goes first, that the others keep theirs.
	edits := slices.Clone(c.Edits)
	slices.SortStableFunc(edits, func(a, b fit.Edit) int {
		if a.Kind != fit.RelaxAffinity || b.Kind != fit.RelaxAffinity || a.Of != b.Of {
			return 0
		}
		return cmp.Compare(b.Index, a.Index)
	})
	for _, e := range edits {
		for _, cmd := range s.commands(e) {
			if !slices.Contains(out.Commands, cmd) {
				out.Commands = append(out.Commands, cmd)
			}
		}
	}
	return out
}

// advice is the next thing to do or to look at, by the cause alone.
func (s subject) advice(x Group) []Change {
	one := func(summary string, commands ...string) []Change {
		return []Change{{Summary: summary, Commands: commands}}
	}
	pod := fmt.Sprintf("-n %s %s %s", s.ns, "pod", word(s.name))
	switch x.Turn {
	case NoScheduler:
		if x.pod.Scheduler != defaultScheduler {
			return one("start the scheduler "+x.pod.Scheduler+", or ask for the default one",
				s.patch("set schedulerName to "+defaultScheduler, op{"replace", "/schedulerName", defaultScheduler})...)
		}
		return one("see who leads the schedulers, and why none works", "kubectl -n kube-system get lease kube-scheduler -o yaml", "kubectl -n kube-system get pods -l component=kube-scheduler -o wide")
	case Gate:
		return one("ask who set the gate: its controller takes it away when the pod may run", fmt.Sprintf("kubectl -n %s get pod %s -o jsonpath='{.spec.schedulingGates}'", s.ns, word(s.name)))
	case Binding:
		return one("see which webhooks have a say in pods/binding, and mend the one that refuses", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")
	case Error:
		return one("read the scheduler's log about it", fmt.Sprintf("kubectl -n kube-system logs -l component=kube-scheduler --tail=-1 | grep %s", word(s.name)))
	case NotStarted:
		return one("see whether the node's kubelet is there", "kubectl describe node "+word(x.pod.Node), "journalctl -u kubelet -n 200   # on the node")
	case Starting:
		return one("read what the kubelet says of it", "kubectl describe "+pod)
	case Unschedulable:
		if len(x.victims) > 0 {
			return stuck(x.victims)
		}
		for _, k := range x.Reasons {
			if a, ok := byKind[k]; ok {
				return one(a.summary, a.command(s))
			}
		}
		return one("read the scheduler's account", "kubectl describe "+pod)
	}
	return nil
}

// stuck is what to do about pods that do not go though they were told to.
func stuck(victims []*corev1.Pod) []Change {
	p := victims[0]
	name := fmt.Sprintf("-n %s pod %s", word(p.Namespace), word(p.Name))
	if len(p.Finalizers) > 0 {
		return []Change{{Summary: "get who set the finalizer to take it off, or, if nobody is there to do it, take it off", Commands: []string{
			fmt.Sprintf("kubectl get %s -o jsonpath='{.metadata.finalizers}'", name)}}}
	}
	return []Change{{Summary: "see what holds it: its node's kubelet has to end it", Commands: []string{"kubectl describe " + name, "kubectl describe node " + word(p.Spec.NodeName)}}}
}

type advice struct {
	summary string
	command func(subject) string
}

func fixed(c string) func(subject) string { return func(subject) string { return c } }
func inNamespace(c string) func(subject) string {
	return func(s subject) string { return fmt.Sprintf(c, s.ns) }
}

// byKind is what to look at when nothing but the scheduler's words is known.
var byKind = map[pods.Kind]advice{
	pods.Resources:   {"ask for less, or make room: see what is left on the nodes", fixed("kubectl describe nodes | grep -A8 'Allocated resources'")},
	pods.Taint:       {"tolerate the taint, or take it off a node", fixed("kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints")},
	pods.NodeDown:    {"get the nodes ready again", fixed("kubectl get nodes")},
	pods.Cordoned:    {"uncordon a node that may take pods again", fixed("kubectl get nodes --field-selector spec.unschedulable=true")},
	pods.Placement:   {"compare what the pod asks of nodes with their labels", fixed("kubectl get nodes --show-labels")},
	pods.Volume:      {"look at the claims and their volumes", inNamespace("kubectl -n %s get persistentvolumeclaims -o wide")},
	pods.Port:        {"see which pods have the port", fixed(`kubectl get pods -A -o json | jq -r '.items[]|select(.spec.containers[].ports[]?.hostPort)|.metadata.namespace+"/"+.metadata.name+" "+.spec.nodeName'`)},
	pods.Claim:       {"look at the resource claims; one of a template is made by the controller manager", inNamespace("kubectl -n %s get resourceclaims")},
	pods.NoNodes:     {"add a node", fixed("kubectl get nodes")},
	pods.Uninitiated: {"see why the cloud controller manager does not initialize nodes", fixed("kubectl -n kube-system get pods | grep cloud-controller")},
}
