package fit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// options are the edits that may cure one failure on a node.
func (s *search) options(v variant, node string, f *Failure) []edit {
	switch f.Plugin {
	case NodeUnschedulable:
		return []edit{uncordon(node), tolerate(v.pod, &Taint{Key: v1.TaintNodeUnschedulable, Effect: string(v1.TaintEffectNoSchedule)})}
	case TaintToleration:
		return taintOptions(v.pod, node, f.Taint)
	case NodeAffinity:
		return affinityOptions(v, node, f.Term)
	case NodePorts:
		return append(v.stopOptions(FreePort, node, f.Port.Owners, fmt.Sprintf("free host port %d/%s", f.Port.Port, f.Port.Protocol)), dropPort(v.pod, f.Port)...)
	case NodeResourcesFit:
		out := append(lowerOptions(v.pod, f.Resource, false), v.roomOptions(node, f.Resource)...)
		if len(out) == 0 {
			// A pod that asks for no cpu or memory is the first to lack it.
			out = lowerOptions(v.pod, f.Resource, true)
		}
		return out
	case VolumeRestrictions:
		return v.stopOptions(FreeVolume, node, f.Volume.Owners, "free volume "+f.Volume.Name)
	case NodeVolumeLimits:
		if f.Volume.Limit > 0 || f.Reason == tooManyVolumes {
			return v.detachOptions(node, f.Volume)
		}
		return []edit{installDriver(node, f.Volume.Driver)}
	case VolumeBinding:
		return bindingOptions(v, node, f)
	case PodTopologySpread:
		return spreadOptions(v, node, f.Spread)
	case InterPodAffinity:
		return podAffinityOptions(v, node, f.Term)
	case DynamicResources:
		return v.deviceOptions(node, f)
	case NodeDeclaredFeatures:
		return v.upgrade(node)
	}
	return nil
}

func uncordon(node string) edit {
	return edit{Edit: Edit{Kind: Uncordon, Object: Ref{Kind: Nodes, Name: node}}, text: "uncordon node " + node, cost: 2, harm: Others,
		do: onNode(node, func(n *v1.Node) {
			n.Spec.Unschedulable = false
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
		})}
}

func tolerate(pod *v1.Pod, t *Taint) edit {
	toleration := v1.Toleration{Key: t.Key, Operator: v1.TolerationOpEqual, Value: t.Value, Effect: v1.TaintEffect(t.Effect)}
	if t.Value == "" {
		toleration.Operator = v1.TolerationOpExists
	}
	return edit{Edit: Edit{Kind: Tolerate, Object: podRef(pod), Taint: t}, text: "let the pod tolerate taint " + t.String(), cost: 2.5, harm: PodOnly,
		do: onPod(func(p *v1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, toleration) })}
}

func (t *Taint) String() string {
	if t.Value == "" {
		return t.Key + ":" + t.Effect
	}
	return t.Key + "=" + t.Value + ":" + t.Effect
}

// ofKubernetes tells of labels and taints that are not people's to set: they say
// what a node is or how it is, and come back.
func ofKubernetes(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	return ok && (prefix == "kubernetes.io" || strings.HasSuffix(prefix, ".kubernetes.io") && prefix != "node-role.kubernetes.io" && prefix != "node-restriction.kubernetes.io")
}

// broken are taints of nodes on which no pod would run, tolerated or not: it is the
// node that has to be mended.
var broken = map[string]bool{v1.TaintNodeNotReady: true, v1.TaintNodeUnreachable: true, v1.TaintNodeNetworkUnavailable: true, v1.TaintNodeOutOfService: true,
	"node.cloudprovider.kubernetes.io/uninitialized": true, "node.cloudprovider.kubernetes.io/shutdown": true}

// guarded are taints that are there for a good reason: a node under pressure, or
// one for the control plane.
func guarded(key string) bool {
	return strings.HasPrefix(key, "node-role.kubernetes.io/") || strings.HasPrefix(key, "node.kubernetes.io/") && key != v1.TaintNodeUnschedulable
}

func taintOptions(pod *v1.Pod, node string, t *Taint) []edit {
	if broken[t.Key] {
		return []edit{mend(node, t)}
	}
	var extra float64
	if guarded(t.Key) {
		extra = 4
	}
	e := tolerate(pod, t)
	e.cost += extra
	out := []edit{e}
	if ill(t.Key) {
		out = append(out, mend(node, t))
	}
	if t.Key == v1.TaintNodeUnschedulable {
		out = append(out, uncordon(node))
	} else if !ofKubernetes(t.Key) {
		out = append(out, edit{Edit: Edit{Kind: RemoveTaint, Object: Ref{Kind: Nodes, Name: node}, Taint: t}, cost: 4 + extra, harm: Others,
			text: fmt.Sprintf("remove taint %s from node %s", t, node),
			do: onNode(node, func(n *v1.Node) {
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(x v1.Taint) bool {
					return x.Key == t.Key && x.Value == t.Value && string(x.Effect) == t.Effect
				})
			})})
	}
	return out
}

func affinityOptions(v variant, node string, t *Term) []edit {
	var out []edit
	switch t.Of {
	case "nodeSelector":
		key, value, _ := strings.Cut(t.Expression, "=")
		if !ofKubernetes(key) {
			out = append(out, label(node, map[string]string{key: value}))
		}
		out = append(out, edit{Edit: Edit{Kind: DropSelector, Object: podRef(v.pod), Of: t.Of, Labels: map[string]string{key: value}}, cost: 4, harm: PodOnly,
			text: "drop " + t.Expression + " from the pod's node selector", do: onPod(func(p *v1.Pod) { delete(p.Spec.NodeSelector, key) })})
	case "nodeAffinity":
		if i, ok := v.model.byName[node]; ok {
			if l := labelsFor(v.pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, v.model.nodes[i]); l != nil {
				out = append(out, label(node, l))
			}
		}
		out = append(out, v.dropExpressions(node)...)
		out = append(out, edit{Edit: Edit{Kind: RelaxAffinity, Object: podRef(v.pod), Of: t.Of}, cost: 4.5, harm: PodOnly,
			text: "drop the pod's required node affinity (" + t.Expression + ")", do: onPod(func(p *v1.Pod) { p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil })})
	case "addedAffinity":
		if i, ok := v.model.byName[node]; ok {
			if l := labelsFor(v.model.cluster.Profiles[v.pod.Spec.SchedulerName].AddedAffinity, v.model.nodes[i]); l != nil {
				out = append(out, label(node, l))
			}
		}
	}
	return out
}

func label(node string, l map[string]string) edit {
	keys := slices.Sorted(maps.Keys(l))
	var parts []string
	for _, k := range keys {
		parts = append(parts, k+"="+l[k])
	}
	return edit{Edit: Edit{Kind: AddLabel, Object: Ref{Kind: Nodes, Name: node}, Labels: l}, cost: 2 + 0.5*float64(len(l)-1), harm: Others,
		text: fmt.Sprintf("label node %s with %s", node, strings.Join(parts, ",")),
		do: onNode(node, func(n *v1.Node) {
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			maps.Copy(n.Labels, l)
		})}
}

// labelsFor finds the fewest labels by which a node would satisfy a selector, nil
// where none would do.
func labelsFor(s *v1.NodeSelector, n *nodeInfo) map[string]string {
	if s == nil {
		return nil
	}
	var best map[string]string
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		l, ok := map[string]string{}, len(t.MatchExpressions) > 0
		for _, f := range t.MatchFields {
			named := slices.Contains(f.Values, n.node.Name)
			ok = ok && (f.Operator == v1.NodeSelectorOpIn) == named
		}
		for _, e := range t.MatchExpressions {
			value, has := n.labels[e.Key]
			switch {
			case e.Operator == v1.NodeSelectorOpIn && (!has || !slices.Contains(e.Values, value)) && !ofKubernetes(e.Key):
				if set, twice := l[e.Key]; twice && set != e.Values[0] {
					ok = false
				}
				l[e.Key] = e.Values[0]
			case e.Operator == v1.NodeSelectorOpExists && !has && !ofKubernetes(e.Key):
				if l[e.Key] == "" {
					l[e.Key] = "true"
				}
			case e.Operator == v1.NodeSelectorOpIn && has && slices.Contains(e.Values, value), e.Operator == v1.NodeSelectorOpExists && has,
				e.Operator == v1.NodeSelectorOpDoesNotExist && !has, e.Operator == v1.NodeSelectorOpNotIn && !slices.Contains(e.Values, value):
			case e.Operator == v1.NodeSelectorOpGt, e.Operator == v1.NodeSelectorOpLt:
				// It may hold already; the proof tells.
			default:
				ok = false
			}
		}
		if ok && len(l) > 0 && (best == nil || len(l) < len(best)) {
			best = l
		}
	}
	return best
}

// lowerOptions lowers the pod's request of a resource to what is free.
func lowerOptions(pod *v1.Pod, s *Shortage, toNothing bool) []edit {
	if s.Name == string(v1.ResourcePods) {
		return nil
	}
	name := v1.ResourceName(s.Name)
	if s.Free <= 0 && !scalar(name) && !toNothing {
		return nil
	}
	to, cuts := lower(pod, name, max(0, s.Free))
	if to == nil || len(cuts) == 0 {
		return nil
	}
	// The greater part of it is taken away, the worse.
	cost := 2 + 6*min(1, float64(s.ShortBy)/float64(s.Requested))
	if s.Free <= 0 {
		cost += 1.5
	}
	if toNothing {
		cost += 2
	}
	e := edit{cost: cost, harm: PodOnly, do: onPod(func(p *v1.Pod) { apply(p, name, cuts) })}
	first := cuts[0]
	e.Edit = Edit{Kind: LowerRequest, Object: podRef(pod), Resource: s.Name, From: first.from, To: first.to, Container: first.container}
	var parts []string
	for _, c := range cuts {
		of := "the pod"
		if c.container != "" {
			of = "container " + c.container
		}
		if c.to == 0 && len(cuts) == 1 {
			e.text = fmt.Sprintf("drop the %s request of %s (%s)", s.Name, of, Quantity(s.Name, c.from))
			return []edit{e}
		}
		parts = append(parts, fmt.Sprintf("the %s request of %s by %s, to %s", s.Name, of, Quantity(s.Name, c.from-c.to), Quantity(s.Name, c.to)))
	}
	for _, c := range cuts[1:] {
		e.More = append(e.More, Cut{Container: c.container, From: c.from, To: c.to})
	}
	e.text = "lower " + strings.Join(parts, " and ")
	return []edit{e}
}

// A cut is a request that is lowered, of a container or of the pod itself.
type cut struct {
	container string
	from, to  int64
}

// lower finds which requests to lower, and by how much, that the pod's whole request
// is no more than most.
func lower(pod *v1.Pod, name v1.ResourceName, most int64) (*v1.Pod, []cut) {
	p := pod.DeepCopy()
	var cuts []cut
	total := func() int64 {
		q := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})[name]
		return units(name, q)
	}
	for range 2 * (1 + len(p.Spec.Containers) + len(p.Spec.InitContainers)) {
		over := total() - most
		if over <= 0 {
			return p, cuts
		}
		if r := p.Spec.Resources; r != nil {
			if q, ok := r.Requests[name]; ok && units(name, q) > 0 {
				from := units(name, q)
				cuts = append(cuts, cut{"", from, max(0, from-over)})
				apply(p, name, cuts[len(cuts)-1:])
				// The containers may not ask for more than the pod.
				bare := p.DeepCopy()
				bare.Spec.Resources = nil
				inner := resourcehelper.PodRequests(bare, resourcehelper.PodResourcesOptions{})[name]
				if units(name, inner) <= max(0, from-over) {
					continue
				}
				if _, more := lower(bare, name, max(0, from-over)); more != nil {
					cuts = append(cuts, more...)
					apply(p, name, more)
					continue
				}
				return nil, nil
			}
		}
		// Lowering the greatest request that matters is the smallest change.
		best, without := "", int64(-1)
		for _, c := range all(p) {
			q := c.Resources.Requests[name]
			have := units(name, q)
			if have <= 0 {
				continue
			}
			trial := p.DeepCopy()
			apply(trial, name, []cut{{c.Name, have, max(0, have-over)}})
			q = resourcehelper.PodRequests(trial, resourcehelper.PodResourcesOptions{})[name]
			gain := total() - units(name, q)
			if gain > without || gain == without && best == "" {
				best, without = c.Name, gain
			}
		}
		if best == "" {
			return nil, nil
		}
		for _, c := range all(p) {
			if c.Name == best {
				q := c.Resources.Requests[name]
				from := units(name, q)
				if without == 0 && over > from {
					return nil, nil
				}
				cuts = append(cuts, cut{best, from, max(0, from-over)})
			}
		}
		apply(p, name, cuts[len(cuts)-1:])
	}
	return nil, nil
}

func all(p *v1.Pod) []*v1.Container {
	var out []*v1.Container
	for i := range p.Spec.InitContainers {
		out = append(out, &p.Spec.InitContainers[i])
	}
	for i := range p.Spec.Containers {
		out = append(out, &p.Spec.Containers[i])
	}
	return out
}

// units is an amount as the scheduler counts it.
func units(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func amount(name v1.ResourceName, n int64) resource.Quantity {
	if name == v1.ResourceCPU {
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	if extended(name) {
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
	return *resource.NewQuantity(n, resource.BinarySI)
}

// apply sets the requests of cuts, and the limits of resources of which they have
// to be the same.
func apply(p *v1.Pod, name v1.ResourceName, cuts []cut) {
	for _, x := range cuts {
		set := func(r *v1.ResourceRequirements) {
			if r.Requests == nil {
				r.Requests = v1.ResourceList{}
			}
			r.Requests[name] = amount(name, x.to)
			if _, ok := r.Limits[name]; ok && scalar(name) {
				r.Limits[name] = amount(name, x.to)
			}
		}
		if x.container == "" {
			if p.Spec.Resources != nil {
				set(p.Spec.Resources)
			}
			continue
		}
		for _, c := range all(p) {
			if c.Name == x.container {
				set(&c.Resources)
			}
		}
	}
}

// stopOptions stops the pods named.
func (v variant) stopOptions(kind ChangeKind, node string, owners []Ref, what string) []edit {
	var pods []*podInfo
	for _, n := range v.model.nodes {
		for _, p := range n.pods {
			if slices.Contains(owners, podRef(p.pod)) {
				pods = append(pods, p)
			}
		}
	}
	return v.stopPods(kind, pods, what+" on node "+node)
}

// stopPods moves or stops pods, if none of them is of the node itself: those of a
// DaemonSet or of the kubelet would come back.
func (v variant) stopPods(kind ChangeKind, pods []*podInfo, what string) []edit {
	if len(pods) == 0 {
		return nil
	}
	for _, p := range pods {
		if comesBack(p.pod) || p.priority >= systemCritical {
			return nil
		}
	}
	budgets := v.model.budgetsAgainst(pods)
	return []edit{{Edit: Edit{Kind: kind, Object: podRef(pods[0].pod), Pods: podRefs(pods), Breaks: budgets}, harm: Disrupts,
		cost: 7 + float64(len(pods)) + 4*float64(len(budgets)), text: fmt.Sprintf("%s: move %s%s", what, names(podRefs(pods)), breaking(budgets)), do: stopped(pods)}}
}

// systemCritical is the priority of the least important of the classes that are
// Kubernetes' own.
const systemCritical = 2_000_000_000

// comesBack tells of pods that are made again on the same node at once.
func comesBack(p *v1.Pod) bool {
	if _, ok := p.Annotations[v1.MirrorPodAnnotationKey]; ok {
		return true
	}
	o := metav1.GetControllerOfNoCopy(p)
	return o != nil && (o.Kind == "DaemonSet" || o.Kind == "Node")
}

// mostMoved is how many pods a change may move to make room. To move more is to
// empty the node.
const mostMoved = 20

// roomOptions moves the fewest pods by which enough of a resource is free: one that
// has just enough, or else those that have most, the least important first.
func (v variant) roomOptions(node string, s *Shortage) []edit {
	i, ok := v.model.byName[node]
	if !ok || s.Name != string(v1.ResourcePods) && s.Requested > s.Allocatable {
		return nil
	}
	has := func(p *podInfo) int64 {
		switch name := v1.ResourceName(s.Name); name {
		case v1.ResourcePods:
			return 1
		case v1.ResourceCPU:
			return p.used.cpu
		case v1.ResourceMemory:
			return p.used.memory
		case v1.ResourceEphemeralStorage:
			return p.used.storage
		default:
			return p.used.scalar[name]
		}
	}
	var pods []*podInfo
	for _, p := range v.model.nodes[i].pods {
		if has(p) > 0 && !comesBack(p.pod) && p.priority < systemCritical && p.pod.Namespace != metav1.NamespaceSystem {
			pods = append(pods, p)
		}
	}
	slices.SortStableFunc(pods, func(a, b *podInfo) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(has(a), has(b)))
	})
	if j := slices.IndexFunc(pods, func(p *podInfo) bool { return has(p) >= s.ShortBy }); j >= 0 {
		pods = pods[j : j+1]
	} else {
		slices.SortStableFunc(pods, func(a, b *podInfo) int {
			return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(has(b), has(a)))
		})
		var sum int64
		j := 0
		for ; j < len(pods) && sum < s.ShortBy; j++ {
			sum += has(pods[j])
		}
		if sum < s.ShortBy {
			return nil
		}
		if pods = pods[:j]; j > mostMoved {
			return nil
		}
	}
	return v.stopPods(EvictPods, pods, fmt.Sprintf("make room for %s on node %s", s.Name, node))
}
