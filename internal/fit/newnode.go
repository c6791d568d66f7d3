package fit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// newName is what a node to be added is called until it has a name.
const newName = "new-node"

// byNewNode tries to add a node: as large as the pod asks, with labels that its
// selector and affinity ask for, in one of the zones that there are.
func (s *search) byNewNode(begin variant) {
	requests := resourcehelper.PodRequests(begin.pod, resourcehelper.PodResourcesOptions{})
	allocatable := v1.ResourceList{v1.ResourcePods: resource.MustParse("1")}
	shape := &Shape{Allocatable: map[string]int64{string(v1.ResourcePods): 1}}
	for name, q := range requests {
		if q.IsZero() {
			continue
		}
		if begin.model.devices.standFor[name] != nil {
			return // devices come with a driver, of which nothing can be said
		}
		allocatable[name] = q
		shape.Allocatable[string(name)] = units(name, q)
	}
	if len(begin.pod.Spec.ResourceClaims) > 0 {
		return
	}
	c := begin.model.cycle(begin.pod)
	if !c.off[pNodeDeclaredFeatures] {
		shape.Features = missingFeatures(c.features, &v1.Node{})
	}
	for _, p := range c.volumes.claims {
		if p.claim == nil {
			continue
		}
		if d, _ := begin.model.csiVolume(p.claim, nil); d != "" && begin.model.driverMissing(d, nil) && !slices.Contains(shape.Drivers, d) {
			shape.Drivers = append(shape.Drivers, d)
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(shape.Allocatable)) {
		if name != string(v1.ResourcePods) {
			parts = append(parts, Quantity(name, shape.Allocatable[name])+" "+name)
		}
	}
	cost := 7.0
	if begin.model.outgrows(&c.requests) {
		// Rather than a node larger than all there are, the request may be a mistake.
		cost = 9
	}
	for _, l := range begin.labelSets() {
		x := *shape
		x.Labels = l
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: newName, Labels: maps.Clone(l)}, Status: v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable, DeclaredFeatures: x.Features}}
		n.Labels[v1.LabelHostname] = newName
		size := "for one pod more"
		if len(parts) > 0 {
			size = "with " + strings.Join(parts, ", ") + " free"
		}
		where := ""
		if len(l) > 0 {
			where = " and labels " + labelText(l)
		}
		if len(x.Drivers) > 0 {
			where += " and CSI driver " + strings.Join(x.Drivers, ", ")
		}
		if len(x.Features) > 0 {
			where += " and a kubelet that declares " + strings.Join(x.Features, ", ")
		}
		e := edit{Edit: Edit{Kind: AddNode, Object: Ref{Kind: Nodes, Name: newName}, Shape: &x}, cost: cost, harm: NoHarm,
			text: fmt.Sprintf("add a node %s%s", size, where), do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
				m = m.withNode(n)
				if len(x.Drivers) > 0 {
					csiNode := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: newName}}
					for _, d := range x.Drivers {
						csiNode.Spec.Drivers = append(csiNode.Spec.Drivers, storagev1.CSINodeDriver{Name: d, NodeID: newName})
					}
					m.csiNodes = maps.Clone(m.csiNodes)
					m.csiNodes[newName] = csiNode
				}
				return m, p
			}}
		v := begin.with(e)
		v.node = newName
		if s.offer(v) {
			return
		}
	}
}

// outgrows tells whether no node has as much, even empty.
func (m *Model) outgrows(a *amounts) bool {
	return !slices.ContainsFunc(m.nodes, func(n *nodeInfo) bool {
		if a.cpu > n.allocatable.cpu || a.memory > n.allocatable.memory || a.storage > n.allocatable.storage {
			return false
		}
		for name, x := range a.scalar {
			if x > n.allocatable.scalar[name] {
				return false
			}
		}
		return true
	})
}

func labelText(l map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, k+"="+l[k])
	}
	return strings.Join(parts, ",")
}

// labelSets are the sets of labels that a new node might have, the plainest first:
// what the pod asks for, alone and in each of the domains there are.
func (v variant) labelSets() []map[string]string {
	base := map[string]string{}
	maps.Copy(base, v.pod.Spec.NodeSelector)
	terms := []map[string]string{base}
	if a := v.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = nil
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			l := maps.Clone(base)
			for _, e := range t.MatchExpressions {
				switch {
				case e.Operator == v1.NodeSelectorOpIn && len(e.Values) > 0 && l[e.Key] == "":
					l[e.Key] = e.Values[0]
				case e.Operator == v1.NodeSelectorOpExists && l[e.Key] == "":
					l[e.Key] = "true"
				case (e.Operator == v1.NodeSelectorOpGt || e.Operator == v1.NodeSelectorOpLt) && len(e.Values) == 1 && l[e.Key] == "":
					if n, err := strconv.ParseInt(e.Values[0], 10, 64); err == nil && e.Operator == v1.NodeSelectorOpGt {
						l[e.Key] = strconv.FormatInt(n+1, 10)
					} else if err == nil {
						l[e.Key] = strconv.FormatInt(n-1, 10)
					}
				}
			}
			terms = append(terms, l)
		}
	}
	// The keys by which pods are spread, kept near or apart.
	keys := map[string]bool{}
	for _, t := range v.pod.Spec.TopologySpreadConstraints {
		keys[t.TopologyKey] = true
	}
	if a := v.pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				keys[t.TopologyKey] = true
			}
		}
		if a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				keys[t.TopologyKey] = true
			}
		}
	}
	if len(v.pod.Spec.Volumes) > 0 {
		keys[v1.LabelTopologyZone], keys[v1.LabelTopologyRegion] = true, true
	}
	delete(keys, v1.LabelHostname)
	var out []map[string]string
	seen := map[string]bool{}
	add := func(l map[string]string) {
		if s := labelText(l); !seen[s] && len(out) < 40 {
			seen[s] = true
			out = append(out, l)
		}
	}
	for _, t := range terms {
		add(maps.Clone(t))
		for _, n := range v.model.nodes {
			l := maps.Clone(t)
			for k := range keys {
				if value, ok := n.labels[k]; ok && l[k] == "" {
					l[k] = value
				}
			}
			add(l)
		}
	}
	return out
}
