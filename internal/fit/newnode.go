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
	devices := false
	for name, q := range requests {
		if q.IsZero() {
			continue
		}
		if begin.model.devices.standFor[name] != nil {
			devices = true // they come with a driver, as they did on another node
			continue
		}
		allocatable[name] = q
		shape.Allocatable[string(name)] = units(name, q)
	}
	c := begin.model.cycle(begin.pod)
	devices = devices || len(c.claims.toBe) > 0 || c.claims.special != nil
	likes := []string{""}
	if devices {
		likes = begin.model.withDevices()
	}
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
	for i, l := range begin.labelSets(c) {
		for _, like := range likes {
			if i > 8 && like != likes[0] {
				break
			}
			x := *shape
			x.Like = like
			x.Labels = l
			n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: newName, Labels: maps.Clone(l)}, Status: v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable, DeclaredFeatures: x.Features}}
			if n.Labels[v1.LabelHostname] == "" {
				n.Labels[v1.LabelHostname] = newName
			}
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
			if like != "" {
				where += " and devices like those of node " + like
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
					if like != "" {
						m = m.withDevicesOf(like, newName)
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

// withDevices are nodes that have devices, one of each kind of them, the last with
// most.
func (m *Model) withDevices() []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range m.devices.slices {
		if s.Spec.NodeName == nil || len(out) == 12 {
			continue
		}
		var kinds []string
		for i := range s.Spec.Devices {
			kinds = append(kinds, fmt.Sprint(s.Spec.Driver, s.Spec.Devices[i].Attributes, len(s.Spec.Devices[i].Taints)))
		}
		slices.Sort(kinds)
		if key := strings.Join(kinds, "\x00"); !seen[key] {
			seen[key] = true
			out = append(out, *s.Spec.NodeName)
		}
	}
	return out
}

// withDevicesOf gives a node devices like those of another, all of them free.
func (m *Model) withDevicesOf(like, name string) *Model {
	m = m.clone()
	m.cluster.ResourceSlices = slices.Clone(m.cluster.ResourceSlices)
	for _, s := range m.cluster.ResourceSlices {
		if s.Spec.NodeName == nil || *s.Spec.NodeName != like {
			continue
		}
		x := s.DeepCopy()
		x.Name, x.Spec.NodeName, x.Spec.Pool.Name = name+"-"+s.Name, &name, name
		m.cluster.ResourceSlices = append(m.cluster.ResourceSlices, x)
	}
	m.devices = newDevices(&m.cluster)
	return m
}

// volumeLabels are the labels of nodes where the pod's bound volumes can be used.
func (v variant) volumeLabels(c *cycle, base map[string]string) {
	set := func(key, value string) {
		switch key {
		case v1.LabelFailureDomainBetaZone:
			key = v1.LabelTopologyZone
		case v1.LabelFailureDomainBetaRegion:
			key = v1.LabelTopologyRegion
		}
		taken := slices.ContainsFunc(v.model.nodes, func(n *nodeInfo) bool { return n.labels[v1.LabelHostname] == value })
		if base[key] == "" && (key != v1.LabelHostname || !taken) {
			base[key] = value
		}
	}
	for _, z := range c.volumes.zones {
		set(z.key, z.values[0])
	}
	for _, p := range c.volumes.bound {
		x := v.model.volumes[p.claim.Spec.VolumeName]
		if x == nil || x.Spec.NodeAffinity == nil || x.Spec.NodeAffinity.Required == nil || len(x.Spec.NodeAffinity.Required.NodeSelectorTerms) == 0 {
			continue
		}
		for _, e := range x.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions {
			if e.Operator == v1.NodeSelectorOpIn && len(e.Values) > 0 {
				if e.Key == v1.LabelFailureDomainBetaZone && base[e.Key] == "" {
					base[e.Key] = e.Values[0]
				}
				set(e.Key, e.Values[0])
			}
		}
	}
	for _, p := range c.volumes.delayed {
		if class := c.m.classes[p.class]; class != nil && len(class.AllowedTopologies) > 0 {
			for _, e := range class.AllowedTopologies[0].MatchLabelExpressions {
				if len(e.Values) > 0 {
					set(e.Key, e.Values[0])
				}
			}
		}
	}
	if a := c.profile.AddedAffinity; a != nil && len(a.NodeSelectorTerms) > 0 {
		for _, e := range a.NodeSelectorTerms[0].MatchExpressions {
			switch {
			case e.Operator == v1.NodeSelectorOpIn && len(e.Values) > 0:
				set(e.Key, e.Values[0])
			case e.Operator == v1.NodeSelectorOpExists:
				set(e.Key, "true")
			}
		}
	}
}

// labelSets are the sets of labels that a new node might have, the plainest first:
// what the pod asks for, alone and in each of the domains there are.
func (v variant) labelSets(c *cycle) []map[string]string {
	base := map[string]string{}
	maps.Copy(base, v.pod.Spec.NodeSelector)
	v.volumeLabels(c, base)
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
	for _, x := range c.spread {
		keys[x.key] = true
	}
	for _, k := range c.keptKeys {
		keys[k] = true
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
	everywhere := map[string]bool{}
	for k := range keys {
		if !slices.ContainsFunc(v.model.nodes, func(n *nodeInfo) bool { return n.labels[k] == "" }) && len(v.model.nodes) > 0 {
			everywhere[k] = true
		}
	}
	var out []map[string]string
	seen := map[string]bool{}
	add := func(l map[string]string) {
		for k := range everywhere {
			if l[k] == "" {
				return // where all nodes are in zones a new one is in one too
			}
		}
		if s := labelText(l); !seen[s] && len(out) < 48 {
			seen[s] = true
			out = append(out, l)
		}
	}
	if len(terms) > 1 && len(keys) == 0 {
		keys[v1.LabelTopologyZone] = true
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
	for _, t := range terms {
		// A domain of its own is empty: pods that are to be apart are so there.
		l := maps.Clone(t)
		for k := range keys {
			if l[k] == "" {
				l[k] = "new"
			}
		}
		add(l)
	}
	return out
}
