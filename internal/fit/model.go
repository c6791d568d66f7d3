package fit

import (
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// A Model judges pods against one cluster. It is safe for use by many goroutines.
type Model struct {
	cluster Cluster
	nodes   []*nodeInfo
	byName  map[string]int32
	// placed are the pods on nodes by their namespace.
	placed map[string][]placement
	// repelling are the anti-affinity terms of pods on nodes, alike ones together.
	repelling  []*repulsion
	namespaces map[string]labels.Set

	claims      map[string]*v1.PersistentVolumeClaim // by namespace/name
	volumes     map[string]*volume
	byClass     map[string][]*volume
	classes     map[string]*storagev1.StorageClass
	csiNodes    map[string]*storagev1.CSINode
	csiDrivers  map[string]*storagev1.CSIDriver
	capacities  map[string][]*capacity // by storage class
	attachments map[string][]*storagev1.VolumeAttachment
	// claimUse are the pods on nodes that use a claim, by namespace/name.
	claimUse map[string][]placement

	resourceClaims map[string]*resourcev1.ResourceClaim
	devices        *devices
	budgets        []budget
	added          map[string]*nodeaffinity.NodeSelector // by profile

	mu       sync.Mutex
	matching map[string][]int32 // pods that match a selector, by node
	verdicts map[string]*Verdict
}

// A placement is a pod on a node.
type placement struct {
	pod  *podInfo
	node int32
}

type budget struct {
	pdb      *policyv1.PodDisruptionBudget
	selector labels.Selector
}

// A volume is a PersistentVolume with its node affinity parsed.
type volume struct {
	*v1.PersistentVolume
	affinity *nodeaffinity.LazyErrorNodeSelector // nil where there is none
	// translated is the volume as its CSI driver sees it, where it is of a kind that
	// nodes may have migrated.
	translated *volume
	plugin     string // of such a volume
	broken     string // why it cannot be translated
}

type capacity struct {
	*storagev1.CSIStorageCapacity
	topology labels.Selector // nil where no node reaches it
}

// New makes a model of what the scheduler sees.
func New(c Cluster) *Model {
	m := &Model{cluster: c,
		byName: make(map[string]int32, len(c.Nodes)), placed: map[string][]placement{},
		namespaces: make(map[string]labels.Set, len(c.Namespaces)),
		claims:     make(map[string]*v1.PersistentVolumeClaim, len(c.PersistentVolumeClaims)),
		classes:    map[string]*storagev1.StorageClass{},
		csiNodes:   map[string]*storagev1.CSINode{}, csiDrivers: map[string]*storagev1.CSIDriver{},
		capacities: map[string][]*capacity{}, attachments: map[string][]*storagev1.VolumeAttachment{},
		claimUse: map[string][]placement{}, resourceClaims: map[string]*resourcev1.ResourceClaim{},
		added: map[string]*nodeaffinity.NodeSelector{},
	}
	m.forget()
	for _, n := range c.Nodes {
		m.byName[n.Name] = int32(len(m.nodes))
		m.nodes = append(m.nodes, newNodeInfo(n))
	}
	for _, p := range c.Pods {
		if ended(p) {
			continue
		}
		if p.Spec.NodeName == "" {
			if i, ok := m.byName[p.Status.NominatedNodeName]; ok {
				m.nodes[i].nominated = append(m.nodes[i].nominated, newPodInfo(p))
			}
			continue
		}
		if i, ok := m.byName[p.Spec.NodeName]; ok {
			pi := newPodInfo(p)
			m.nodes[i].add(pi)
			m.place(placement{pi, i})
		}
	}
	m.repelling = repulsions(m.nodes)
	for _, n := range c.Namespaces {
		m.namespaces[n.Name] = n.Labels
	}
	for _, x := range c.PersistentVolumeClaims {
		m.claims[x.Namespace+"/"+x.Name] = x
	}
	m.indexVolumes(c.PersistentVolumes)
	for _, x := range c.StorageClasses {
		m.classes[x.Name] = x
	}
	for _, x := range c.CSINodes {
		m.csiNodes[x.Name] = x
	}
	for _, x := range c.CSIDrivers {
		m.csiDrivers[x.Name] = x
	}
	for _, x := range c.CSIStorageCapacities {
		m.capacities[x.StorageClassName] = append(m.capacities[x.StorageClassName], newCapacity(x))
	}
	for _, x := range c.VolumeAttachments {
		m.attachments[x.Spec.NodeName] = append(m.attachments[x.Spec.NodeName], x)
	}
	for _, x := range c.ResourceClaims {
		m.resourceClaims[x.Namespace+"/"+x.Name] = x
	}
	m.devices = newDevices(&c)
	for _, x := range c.PodDisruptionBudgets {
		if s, err := selectorOf(x.Spec.Selector); err == nil && !s.Empty() {
			m.budgets = append(m.budgets, budget{x, s})
		}
	}
	for name, p := range c.Profiles {
		if p.AddedAffinity != nil {
			// One that does not parse keeps the scheduler from starting.
			if s, err := nodeaffinity.NewNodeSelector(p.AddedAffinity); err == nil {
				m.added[name] = s
			}
		}
	}
	return m
}

// forget drops what was worked out before something changed.
func (m *Model) forget() {
	m.matching = map[string][]int32{}
	m.verdicts = map[string]*Verdict{}
}

func (m *Model) place(p placement) {
	ns := p.pod.pod.Namespace
	m.placed[ns] = append(m.placed[ns], p)
	for _, claim := range p.pod.claims {
		m.claimUse[claim] = append(m.claimUse[claim], p)
	}
}

// unread says why a kind could not be read, if it could not.
func (m *Model) unread(k Kind) (string, bool) {
	why, ok := m.cluster.Unread[k]
	return why, ok
}

// ended tells of pods that have run to their end, which the scheduler does not see.
func ended(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// matchingPods counts, by node, the pods of a namespace that match a selector and
// are not being deleted.
func (m *Model) matchingPods(ns string, s labels.Selector) []int32 {
	key := ns + "\x00" + s.String()
	m.mu.Lock()
	counts, ok := m.matching[key]
	m.mu.Unlock()
	if ok {
		return counts
	}
	counts = make([]int32, len(m.nodes))
	if !s.Empty() {
		for _, p := range m.placed[ns] {
			if p.pod.pod.DeletionTimestamp == nil && s.Matches(p.pod.labels) {
				counts[p.node]++
			}
		}
	}
	m.mu.Lock()
	m.matching[key] = counts
	m.mu.Unlock()
	return counts
}

// clone is a shallow copy to be changed.
func (m *Model) clone() *Model {
	c := &Model{cluster: m.cluster, nodes: slices.Clone(m.nodes), byName: m.byName, placed: m.placed,
		repelling: m.repelling, namespaces: m.namespaces, claims: m.claims, volumes: m.volumes, byClass: m.byClass,
		classes: m.classes, csiNodes: m.csiNodes, csiDrivers: m.csiDrivers, capacities: m.capacities,
		attachments: m.attachments, claimUse: m.claimUse, resourceClaims: m.resourceClaims, devices: m.devices,
		budgets: m.budgets, added: m.added}
	c.forget()
	return c
}

// withNode is the model with one node changed, or added.
func (m *Model) withNode(n *v1.Node) *Model {
	c := m.clone()
	info := newNodeInfo(n)
	if i, ok := m.byName[n.Name]; ok {
		old := m.nodes[i]
		for _, p := range old.pods {
			info.add(p)
		}
		info.nominated = old.nominated
		c.nodes[i] = info
		return c
	}
	c.byName = make(map[string]int32, len(m.byName)+1)
	for k, v := range m.byName {
		c.byName[k] = v
	}
	c.byName[n.Name] = int32(len(c.nodes))
	c.nodes = append(c.nodes, info)
	return c
}

// without is the model with some pods gone from their nodes.
func (m *Model) without(gone map[*podInfo]bool) *Model {
	c := m.clone()
	isGone := func(p placement) bool { return gone[p.pod] }
	c.placed = make(map[string][]placement, len(m.placed))
	for ns, ps := range m.placed {
		if slices.ContainsFunc(ps, isGone) {
			ps = slices.DeleteFunc(slices.Clone(ps), isGone)
		}
		c.placed[ns] = ps
	}
	c.claimUse = make(map[string][]placement, len(m.claimUse))
	for claim, ps := range m.claimUse {
		if slices.ContainsFunc(ps, isGone) {
			ps = slices.DeleteFunc(slices.Clone(ps), isGone)
		}
		if len(ps) > 0 {
			c.claimUse[claim] = ps
		}
	}
	for i, n := range c.nodes {
		if !slices.ContainsFunc(n.pods, func(p *podInfo) bool { return gone[p] }) {
			continue
		}
		info := newNodeInfo(n.node)
		info.nominated = n.nominated
		for _, p := range n.pods {
			if !gone[p] {
				info.add(p)
			}
		}
		c.nodes[i] = info
	}
	c.repelling = repulsions(c.nodes)
	return c
}

func podRef(p *v1.Pod) Ref { return Ref{Kind: Pods, Namespace: p.Namespace, Name: p.Name} }

func compareRefs(a, b Ref) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}
