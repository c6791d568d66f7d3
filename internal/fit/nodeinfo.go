package fit

import (
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1"
)

// amounts are of resources as the scheduler counts them: cpu in thousandths of a
// core, the rest in bytes or pieces.
type amounts struct {
	cpu, memory, storage int64
	scalar               map[v1.ResourceName]int64
}

func (a *amounts) add(list v1.ResourceList) {
	for name, q := range list {
		switch {
		case name == v1.ResourceCPU:
			a.cpu += q.MilliValue()
		case name == v1.ResourceMemory:
			a.memory += q.Value()
		case name == v1.ResourceEphemeralStorage:
			a.storage += q.Value()
		case scalar(name):
			if a.scalar == nil {
				a.scalar = map[v1.ResourceName]int64{}
			}
			a.scalar[name] += q.Value()
		}
	}
}

func (a *amounts) sum(b *amounts, sign int64) {
	a.cpu += sign * b.cpu
	a.memory += sign * b.memory
	a.storage += sign * b.storage
	for name, x := range b.scalar {
		if a.scalar == nil {
			a.scalar = map[v1.ResourceName]int64{}
		}
		a.scalar[name] += sign * x
	}
}

// scalar tells of resources that are counted besides cpu, memory and storage.
func scalar(name v1.ResourceName) bool {
	return extended(name) || strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) ||
		strings.Contains(string(name), v1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(string(name), v1.ResourceAttachableVolumesPrefix)
}

// extended tells of resources that a device plugin or a device class brings.
func extended(name v1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.Contains(s, v1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+s)) == 0
}

// deviceResource tells of resources that a device class may stand for.
func deviceResource(name v1.ResourceName) bool {
	return extended(name) || strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
}

// A podInfo is a pod on a node, with what matters of it worked out.
type podInfo struct {
	pod      *v1.Pod
	labels   labels.Set
	priority int32
	used     amounts
	ports    []hostPort
	claims   []string // namespace/name of the claims of its volumes
	repels   []affinityTerm
}

func newPodInfo(p *v1.Pod) *podInfo {
	i := &podInfo{pod: p, labels: p.Labels, priority: corev1.PodPriority(p), ports: hostPorts(p)}
	// While a resize is under way, a pod takes the greater of what it asks for and
	// what it was given.
	i.used.add(resource.PodRequests(p, resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}))
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			i.claims = append(i.claims, p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		// The API server admits no terms that do not parse.
		i.repels, _ = affinityTerms(p, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return i
}

// A nodeInfo is a node and the pods on it.
type nodeInfo struct {
	node   *v1.Node
	labels labels.Set
	// bare has the labels alone: what volumes are matched against.
	bare        *v1.Node
	allocatable amounts
	maxPods     int
	used        amounts
	pods        []*podInfo
	ports       []portUse
	// taints are those that keep pods off.
	taints    []v1.Taint
	features  nodedeclaredfeatures.FeatureSet
	nominated []*podInfo

	attachedOnce sync.Once
	attached     attachedVolumes
}

func newNodeInfo(n *v1.Node) *nodeInfo {
	i := &nodeInfo{node: n, labels: n.Labels, bare: &v1.Node{ObjectMeta: metav1.ObjectMeta{Labels: n.Labels}},
		features: nodedeclaredfeatures.DefaultFramework.TryMap(n.Status.DeclaredFeatures)}
	i.allocatable.add(n.Status.Allocatable)
	if q, ok := n.Status.Allocatable[v1.ResourcePods]; ok {
		i.maxPods = int(q.Value())
	}
	for _, t := range n.Spec.Taints {
		if t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute {
			i.taints = append(i.taints, t)
		}
	}
	return i
}

func (n *nodeInfo) add(p *podInfo) {
	n.pods = append(n.pods, p)
	n.used.sum(&p.used, 1)
	for _, port := range p.ports {
		n.ports = append(n.ports, portUse{port, p})
	}
}

// with is the node with some pods more, and without some.
func (n *nodeInfo) with(more []*podInfo, gone map[*podInfo]bool) *nodeInfo {
	c := newNodeInfo(n.node)
	for _, p := range n.pods {
		if !gone[p] {
			c.add(p)
		}
	}
	for _, p := range more {
		c.add(p)
	}
	c.nominated = n.nominated
	return c
}
