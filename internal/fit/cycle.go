package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// release is the one whose filters are modelled.
var release = version.MustParseGeneric("1.37.2")

// The plugins in the order in which the scheduler asks them.
const (
	pNodeName = iota
	pNodeUnschedulable
	pTaintToleration
	pNodeAffinity
	pNodePorts
	pNodeResourcesFit
	pVolumeRestrictions
	pNodeVolumeLimits
	pVolumeBinding
	pVolumeZone
	pPodTopologySpread
	pInterPodAffinity
	pDynamicResources
	pNodeDeclaredFeatures
	numPlugins
)

var pluginNames = [numPlugins]string{NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions,
	NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures}

// A cycle is the judging of one pod: what the scheduler works out before it looks
// at nodes.
type cycle struct {
	m        *Model
	pod      *v1.Pod
	profile  Profile
	priority int32
	off      [numPlugins]bool // plugins that have nothing to say or are disabled

	blocked     []Failure
	held        bool   // kept out of the scheduler's queue
	failing     string // the error that the scheduler meets
	unread      []Unread
	notModelled []string

	// only are the nodes that node affinity names, nil where it names none.
	only sets.Set[string]

	toleratesUnschedulable bool
	added                  *nodeaffinity.NodeSelector
	selector               []selectorLabel
	affinity               *nodeaffinity.LazyErrorNodeSelector
	ports                  []hostPort
	requests               amounts
	scalars                []v1.ResourceName // requested ones, sorted
	volumes                podVolumes
	spread                 []*spreadConstraint
	attract, repel         []affinityTerm
	near, far, kept        map[topology]int64
	keptKeys               []string
	claims                 podClaims
	features               nodedeclaredfeatures.FeatureSet
	reasons                []string // texts that are not the same for all pods, by number
}

type selectorLabel struct{ key, value string }

// A result is what is in the way of a pod on one node.
type result struct {
	hits []hit
	// weight is how far the node is from fitting.
	weight float64
	// full: failures are wanted with their particulars.
	full     bool
	failures []Failure
	err      string // an error that ends the scheduler's attempt
}

// A hit is a failed constraint: what of a plugin, and which of several alike.
type hit struct {
	plugin, reason uint8
	sub            uint16
}

func (r *result) hit(plugin, reason, sub int, weight float64) {
	r.hits = append(r.hits, hit{uint8(plugin), uint8(reason), uint16(sub)})
	r.weight += weight
}

// error notes an error that ends the scheduler's attempt, of all nodes. It meets it
// only where no filter before has refused the node.
func (r *result) error(plugin, what string) {
	if len(r.hits) == 0 && r.err == "" {
		r.err = fmt.Sprintf("running %q filter plugin: %s", plugin, what)
	}
}

func (r *result) fail(f Failure) { r.failures = append(r.failures, f) }

func (r *result) reset() {
	r.hits, r.failures, r.weight, r.err = r.hits[:0], nil, 0, ""
}

// needs notes that the judgement depends on a kind, and tells whether it is there.
func (c *cycle) needs(plugin int, kinds ...Kind) bool {
	ok := true
	for _, k := range kinds {
		why, missing := c.m.unread(k)
		if !missing {
			continue
		}
		ok = false
		u := Unread{Kind: k, Why: why, Plugin: pluginNames[plugin]}
		if !slices.Contains(c.unread, u) {
			c.unread = append(c.unread, u)
		}
	}
	return ok
}

func (c *cycle) block(plugin int, f Failure) {
	f.Plugin = pluginNames[plugin]
	c.blocked = append(c.blocked, f)
}

func (m *Model) cycle(pod *v1.Pod) *cycle {
	profile := m.cluster.Profiles[pod.Spec.SchedulerName]
	c := &cycle{m: m, pod: pod, profile: profile, priority: corev1.PodPriority(pod), added: m.added[pod.Spec.SchedulerName]}
	for i, name := range pluginNames {
		c.off[i] = profile.Disabled[name]
	}
	c.notModelled = append(c.notModelled, profile.Unmodelled...)
	if pod.Spec.SchedulingGroup != nil {
		c.notModelled = append(c.notModelled, "scheduling of the pod's group as a whole")
	}
	off := func(plugin int, nothing bool) {
		if nothing {
			c.off[plugin] = true
		}
	}
	off(pNodeName, pod.Spec.NodeName == "")
	c.toleratesUnschedulable = corev1.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations,
		&v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}, false)
	c.nodeAffinity()
	c.ports = hostPorts(pod)
	off(pNodePorts, len(c.ports) == 0)
	if !c.off[pNodePorts] {
		c.needs(pNodePorts, Pods)
	}
	c.resourceRequests()
	c.podVolumes()
	c.spreadConstraints()
	c.podAffinity()
	c.resourceClaims()
	reqs, err := nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&types.PodInfo{Spec: &pod.Spec}, release)
	if err != nil || reqs.IsEmpty() {
		c.off[pNodeDeclaredFeatures] = true
	}
	c.features = reqs
	slices.SortStableFunc(c.blocked, func(a, b Failure) int { return order(a.Plugin) - order(b.Plugin) })
	return c
}

func order(plugin string) int { return slices.Index(pluginNames[:], plugin) }

func (c *cycle) resourceRequests() {
	if c.off[pNodeResourcesFit] {
		return
	}
	c.needs(pNodeResourcesFit, Pods)
	list := resource.PodRequests(c.pod, resource.PodResourcesOptions{})
	c.requests.add(list)
	for name := range c.requests.scalar {
		c.scalars = append(c.scalars, name)
	}
	slices.Sort(c.scalars)
}

// on tells of all that is in the way on a node, in the scheduler's order.
func (c *cycle) on(n *nodeInfo, r *result) {
	for plugin, filter := range filters {
		if !c.off[plugin] {
			filter(c, n, r)
		}
	}
}

// filters are those of the plugins, by number.
var filters = [numPlugins]func(*cycle, *nodeInfo, *result){
	pNodeName:             (*cycle).nodeName,
	pNodeUnschedulable:    (*cycle).unschedulable,
	pTaintToleration:      (*cycle).taints,
	pNodeAffinity:         (*cycle).selected,
	pNodePorts:            (*cycle).hostPorts,
	pNodeResourcesFit:     (*cycle).resources,
	pVolumeRestrictions:   (*cycle).volumeRestrictions,
	pNodeVolumeLimits:     (*cycle).volumeLimits,
	pVolumeBinding:        (*cycle).volumeBinding,
	pVolumeZone:           (*cycle).volumeZone,
	pPodTopologySpread:    (*cycle).topologySpread,
	pInterPodAffinity:     (*cycle).interPodAffinity,
	pDynamicResources:     (*cycle).dynamicResources,
	pNodeDeclaredFeatures: (*cycle).declaredFeatures,
}

func (c *cycle) nodeName(n *nodeInfo, r *result) {
	if c.pod.Spec.NodeName == n.node.Name {
		return
	}
	r.hit(pNodeName, 0, 0, 1)
	if r.full {
		r.fail(Failure{Plugin: NodeName, Reason: "node(s) didn't match the requested node name",
			Detail: "the pod names node " + c.pod.Spec.NodeName})
	}
}

func (c *cycle) unschedulable(n *nodeInfo, r *result) {
	if !n.node.Spec.Unschedulable || c.toleratesUnschedulable {
		return
	}
	r.hit(pNodeUnschedulable, 0, 0, 0.5)
	if r.full {
		r.fail(Failure{Plugin: NodeUnschedulable, Reason: "node(s) were unschedulable", Detail: "the node is cordoned"})
	}
}

func (c *cycle) taints(n *nodeInfo, r *result) {
	for i := range n.taints {
		t := &n.taints[i]
		if corev1.TolerationsTolerateTaint(logr.Discard(), c.pod.Spec.Tolerations, t, false) {
			continue
		}
		s := t.ToString()
		r.hit(pTaintToleration, 0, c.text(s), 1)
		if r.full {
			r.fail(Failure{Plugin: TaintToleration, Reason: "node(s) had untolerated taint(s)", Detail: "taint " + s + " is not tolerated",
				Taint: &Taint{t.Key, t.Value, string(t.Effect)}})
		}
	}
}

// text numbers texts, that failures which differ in them are told apart.
func (c *cycle) text(s string) int {
	for i, t := range c.reasons {
		if t == s {
			return i
		}
	}
	c.reasons = append(c.reasons, s)
	return len(c.reasons) - 1
}

func (c *cycle) nodeAffinity() {
	var terms []v1.NodeSelectorTerm
	if a := c.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		c.affinity = nodeaffinity.NewLazyErrorNodeSelector(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		terms = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	if c.off[pNodeAffinity] {
		return
	}
	for k, v := range c.pod.Spec.NodeSelector {
		c.selector = append(c.selector, selectorLabel{k, v})
	}
	slices.SortFunc(c.selector, func(a, b selectorLabel) int { return strings.Compare(a.key, b.key) })
	c.namedNodes(terms)
	if len(c.selector) == 0 && c.affinity == nil && c.added == nil {
		c.off[pNodeAffinity] = true
	}
}

// namedNodes finds the nodes that every term names, if all do.
func (c *cycle) namedNodes(terms []v1.NodeSelectorTerm) {
	if len(terms) == 0 {
		return
	}
	all := sets.Set[string]{}
	for _, t := range terms {
		var of sets.Set[string]
		for _, f := range t.MatchFields {
			if f.Key != "metadata.name" || f.Operator != v1.NodeSelectorOpIn {
				continue
			}
			if s := sets.New(f.Values...); of == nil {
				of = s
			} else {
				of = of.Intersection(s)
			}
		}
		if of == nil {
			return
		}
		all = all.Union(of)
	}
	c.only = all
	if len(all) == 0 {
		c.block(pNodeAffinity, Failure{Reason: "pod affinity terms conflict",
			Detail: "the terms of the pod's node affinity ask for nodes of several names at once", Term: &Term{Of: "nodeAffinity"}})
	}
}

const notSelected = "node(s) didn't match Pod's node affinity/selector"

func (c *cycle) selected(n *nodeInfo, r *result) {
	if c.added != nil && !c.added.Match(n.node) {
		r.hit(pNodeAffinity, 0, 0, 1)
		if r.full {
			r.fail(Failure{Plugin: NodeAffinity, Reason: "node(s) didn't match scheduler-enforced node affinity",
				Detail: "the scheduler's configuration admits only " + nodeSelectorText(c.profile.AddedAffinity),
				Term:   &Term{Of: "addedAffinity", Expression: nodeSelectorText(c.profile.AddedAffinity)}})
		}
	}
	for i, want := range c.selector {
		got, ok := n.labels[want.key]
		if ok && got == want.value {
			continue
		}
		r.hit(pNodeAffinity, 1, i, 1)
		if r.full {
			has := "the node has no such label"
			if ok {
				has = fmt.Sprintf("the node has %s=%s", want.key, got)
			}
			r.fail(Failure{Plugin: NodeAffinity, Reason: notSelected, Detail: fmt.Sprintf("node selector %s=%s, %s", want.key, want.value, has),
				Term: &Term{Of: "nodeSelector", Index: i, Expression: want.key + "=" + want.value}})
		}
	}
	if c.affinity == nil {
		return
	}
	if ok, _ := c.affinity.Match(n.node); ok {
		return
	}
	r.hit(pNodeAffinity, 2, 0, 1)
	if r.full {
		s := nodeSelectorText(c.pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		r.fail(Failure{Plugin: NodeAffinity, Reason: notSelected, Detail: "node affinity asks for " + s, Term: &Term{Of: "nodeAffinity", Expression: s}})
	}
}

func (c *cycle) resources(n *nodeInfo, r *result) {
	short := func(i int, name v1.ResourceName, reason string, asked, have, used int64) {
		lack := asked - (have - used)
		r.hit(pNodeResourcesFit, 0, i, 0.5+0.5*min(1, float64(lack)/float64(max(1, asked))))
		if !r.full {
			return
		}
		r.fail(Failure{Plugin: NodeResourcesFit, Reason: reason, Preemptible: asked <= have || name == v1.ResourcePods,
			Detail:   shortText(name, asked, have, used),
			Resource: &Shortage{Name: string(name), Requested: asked, Allocatable: have, Used: used, Free: have - used, ShortBy: lack}})
	}
	if len(n.pods)+1 > n.maxPods {
		short(0, v1.ResourcePods, "Too many pods", 1, int64(n.maxPods), int64(len(n.pods)))
	}
	if q := &c.requests; q.cpu > 0 && q.cpu > n.allocatable.cpu-n.used.cpu {
		short(1, v1.ResourceCPU, "Insufficient cpu", q.cpu, n.allocatable.cpu, n.used.cpu)
	}
	if q := &c.requests; q.memory > 0 && q.memory > n.allocatable.memory-n.used.memory {
		short(2, v1.ResourceMemory, "Insufficient memory", q.memory, n.allocatable.memory, n.used.memory)
	}
	if q := &c.requests; q.storage > 0 && q.storage > n.allocatable.storage-n.used.storage {
		short(3, v1.ResourceEphemeralStorage, "Insufficient ephemeral-storage", q.storage, n.allocatable.storage, n.used.storage)
	}
	for i, name := range c.scalars {
		asked := c.requests.scalar[name]
		if asked <= 0 || c.ignored(name) {
			continue
		}
		have, used := n.allocatable.scalar[name], n.used.scalar[name]
		if asked <= have-used {
			continue
		}
		if have <= 0 && c.deviceClass(name) != nil {
			continue // devices stand for it on this node
		}
		short(4+i, name, "Insufficient "+string(name), asked, have, used)
	}
}

// shortText says what is short on a node. A node can have more on it than it has.
func shortText(name v1.ResourceName, asked, have, used int64) string {
	q := func(n int64) string { return Quantity(string(name), n) }
	switch free := have - used; {
	case name == v1.ResourcePods:
		return fmt.Sprintf("the node takes %d pods and has %d", have, used)
	case have == 0:
		return fmt.Sprintf("the pod asks for %s %s, the node has none", q(asked), name)
	case free < 0:
		return fmt.Sprintf("the pod asks for %s %s, the node has %s and pods that ask for %s, short by %s", q(asked), name, q(have), q(used), q(asked-free))
	default:
		return fmt.Sprintf("the pod asks for %s %s, %s of %s are free, short by %s", q(asked), name, q(free), q(have), q(asked-free))
	}
}

func (c *cycle) ignored(name v1.ResourceName) bool {
	if !extended(name) || len(c.profile.IgnoredResources)+len(c.profile.IgnoredResourceGroups) == 0 {
		return false
	}
	prefix, _, _ := strings.Cut(string(name), "/")
	return c.profile.IgnoredResources[string(name)] || c.profile.IgnoredResourceGroups[prefix]
}

func (c *cycle) declaredFeatures(n *nodeInfo, r *result) {
	if ok, err := c.features.IsSubset(n.features); ok && err == nil {
		return
	}
	r.hit(pNodeDeclaredFeatures, 0, 0, 1)
	if r.full {
		r.fail(Failure{Plugin: NodeDeclaredFeatures, Reason: "node(s) didn't match Pod's required features",
			Detail: "the kubelet does not declare " + strings.Join(missingFeatures(c.features, n.node), ", ")})
	}
}

// missingFeatures are those that a pod needs and a node does not declare.
func missingFeatures(needs nodedeclaredfeatures.FeatureSet, n *v1.Node) []string {
	match, err := nodedeclaredfeatures.DefaultFramework.MatchNode(needs, n)
	if err != nil {
		return nil
	}
	return match.UnsatisfiedRequirements
}
