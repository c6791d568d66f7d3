package fit

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// What the scheduler says of volumes on a node, in its order.
const (
	volumeElsewhere = iota
	noVolumeToBind
	noCapacity
	volumeGone
)

var bindingReasons = [...]string{
	volumeElsewhere: "node(s) didn't match PersistentVolume's node affinity",
	noVolumeToBind:  "node(s) didn't find available persistent volumes to bind",
	noCapacity:      "node(s) did not have enough free storage",
	volumeGone:      "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}

// volumeBinding tells whether the bound volumes of the pod reach the node, and
// whether volumes can be had there for the claims that wait for a node.
func (c *cycle) volumeBinding(n *nodeInfo, r *result) {
	if len(c.volumes.bound)+len(c.volumes.delayed) == 0 {
		return
	}
	csiNode := c.m.csiNodes[n.node.Name]
	fail := func(reason, sub int, weight float64, p *podClaim, pv, detail string, ref func(*VolumeRef)) {
		r.hit(pVolumeBinding, reason, sub, weight)
		if !r.full {
			return
		}
		v := p.ref(pv)
		if ref != nil {
			ref(v)
		}
		r.fail(Failure{Plugin: VolumeBinding, Reason: bindingReasons[reason], Detail: detail, Volume: v})
	}
	gone, elsewhere := -1, false
	for i, p := range c.volumes.bound {
		v := c.m.volumes[p.claim.Spec.VolumeName]
		if v == nil {
			// The scheduler looks no further than the first volume that will not do.
			if !elsewhere {
				gone = i
			}
			break
		}
		seen, broken := v.on(csiNode)
		if broken != "" {
			if !elsewhere {
				r.error(VolumeBinding, broken)
			}
			break
		}
		if !seen.reaches(n) {
			elsewhere = true
			fail(volumeElsewhere, i, 2, p, v.Name, fmt.Sprintf("volume %s of claim %s cannot be used on the node: it is at %s", v.Name, p.name, volumeSite(v)), nil)
		}
	}
	bind, capacity := c.findVolumes(n)
	for _, x := range bind {
		fail(noVolumeToBind, slices.Index(c.volumes.delayed, x.claim), 1, x.claim, "", x.why, nil)
	}
	for _, x := range capacity {
		fail(noCapacity, slices.Index(c.volumes.delayed, x.claim), 1, x.claim, "", x.why, func(v *VolumeRef) { v.Capacity = x.most })
	}
	if gone >= 0 {
		p := c.volumes.bound[gone]
		fail(volumeGone, gone, 2, p, p.claim.Spec.VolumeName, fmt.Sprintf("volume %s of claim %s does not exist", p.claim.Spec.VolumeName, p.name), nil)
	}
}

func volumeSite(v *volume) string {
	if v.Spec.NodeAffinity == nil {
		return "any node"
	}
	return nodeSelectorText(v.Spec.NodeAffinity.Required)
}

// An unmet is a claim for which there is no volume on a node.
type unmet struct {
	claim *podClaim
	why   string
	most  int64
}

// findVolumes finds for the claims that wait for a node those that cannot be bound
// on this one, and those for which there is no space. The scheduler stops at the
// first that fails; here are all of the same sort.
func (c *cycle) findVolumes(n *nodeInfo) (bind, space []unmet) {
	var provision []*podClaim
	for _, p := range c.volumes.delayed {
		if node, ok := p.claim.Annotations[annSelectedNode]; ok {
			if node != n.node.Name {
				return []unmet{{claim: p, why: fmt.Sprintf("the volume of claim %s is being made for node %s", p.name, node)}}, nil
			}
			provision = append(provision, p)
		}
	}
	chosen := map[string]bool{}
	for _, p := range c.volumes.delayed {
		if _, ok := p.claim.Annotations[annSelectedNode]; ok {
			continue
		}
		if v := c.match(p, n, chosen); v != nil {
			chosen[v.Name] = true
		} else {
			provision = append(provision, p)
		}
	}
	for _, p := range provision {
		class := c.m.classes[p.class]
		switch {
		case class == nil || class.Provisioner == "" || class.Provisioner == noProvisioner:
			bind = append(bind, unmet{claim: p, why: fmt.Sprintf("no free volume of storage class %s for claim %s can be used on the node, and the class makes none", p.class, p.name)})
		case !topologyAllows(class.AllowedTopologies, n.labels):
			bind = append(bind, unmet{claim: p, why: fmt.Sprintf("storage class %s of claim %s makes no volumes for this node: it allows %s", p.class, p.name, topologyText(class.AllowedTopologies))})
		default:
			if ok, most := c.capacityFor(p, class, n); !ok {
				space = append(space, unmet{claim: p, most: most, why: fmt.Sprintf("claim %s asks for %s, the most that %s can make here is %s", p.name, bytes(p.size), class.Provisioner, bytes(most))})
			}
		}
		// The first that fails decides of which sort the reason is.
		if len(bind) > 0 && len(space) > 0 {
			if len(bind) == 1 && bind[0].claim == p {
				bind = nil
			} else {
				space = nil
			}
			break
		}
	}
	return bind, space
}

// match finds the volume that would be bound to a claim on a node: one that is
// promised to it, or the smallest that will do.
func (c *cycle) match(p *podClaim, n *nodeInfo, chosen map[string]bool) *volume {
	var selector labels.Selector
	if s := p.claim.Spec.Selector; s != nil {
		var err error
		if selector, err = selectorOf(s); err != nil {
			return nil
		}
	}
	want := p.claim.Spec.Resources.Requests[v1.ResourceStorage]
	var best *volume
	for _, v := range c.m.byClass[p.class] {
		promised := promisedTo(v.PersistentVolume, p.claim)
		capacity := v.Spec.Capacity[v1.ResourceStorage]
		if chosen[v.Name] || v.Spec.ClaimRef != nil && !promised || capacity.Cmp(want) < 0 || v.DeletionTimestamp != nil ||
			mode(v.Spec.VolumeMode) != mode(p.claim.Spec.VolumeMode) || deref(v.Spec.VolumeAttributesClassName) != deref(p.claim.Spec.VolumeAttributesClassName) {
			continue
		}
		if promised {
			if !v.reaches(n) {
				return nil
			}
			return v
		}
		if v.Status.Phase != v1.VolumeAvailable || selector != nil && !selector.Matches(labels.Set(v.Labels)) || !accessModes(v.PersistentVolume, p.claim) {
			continue
		}
		if best != nil {
			if q := best.Spec.Capacity[v1.ResourceStorage]; q.Cmp(capacity) <= 0 {
				continue
			}
		}
		if v.reaches(n) {
			best = v
		}
	}
	return best
}

func promisedTo(v *v1.PersistentVolume, c *v1.PersistentVolumeClaim) bool {
	r := v.Spec.ClaimRef
	return r != nil && r.Name == c.Name && r.Namespace == c.Namespace && (r.UID == "" || r.UID == c.UID)
}

func mode(m *v1.PersistentVolumeMode) v1.PersistentVolumeMode {
	if m == nil {
		return v1.PersistentVolumeFilesystem
	}
	return *m
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func accessModes(v *v1.PersistentVolume, c *v1.PersistentVolumeClaim) bool {
	for _, m := range c.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, m) {
			return false
		}
	}
	return true
}

// topologyAllows tells whether a class makes volumes for a node of these labels.
func topologyAllows(terms []v1.TopologySelectorTerm, l labels.Set) bool {
	if len(terms) == 0 {
		return true
	}
	return slices.ContainsFunc(terms, func(t v1.TopologySelectorTerm) bool {
		for _, e := range t.MatchLabelExpressions {
			value, ok := l[e.Key]
			if !ok || !slices.Contains(e.Values, value) {
				return false
			}
		}
		return len(t.MatchLabelExpressions) > 0
	})
}

// capacityFor tells whether a driver that keeps account of its space has enough for
// a claim where the node can reach it, and the most that it has there.
func (c *cycle) capacityFor(p *podClaim, class *storagev1.StorageClass, n *nodeInfo) (ok bool, most int64) {
	if !p.sized || !c.needs(pVolumeBinding, CSIDrivers) {
		return true, 0
	}
	d := c.m.csiDrivers[class.Provisioner]
	if d == nil || d.Spec.StorageCapacity == nil || !*d.Spec.StorageCapacity || !c.needs(pVolumeBinding, CSIStorageCapacities) {
		return true, 0
	}
	for _, x := range c.m.capacities[class.Name] {
		if x.topology == nil || !x.topology.Matches(n.labels) {
			continue
		}
		if size, ok := x.most(); ok {
			if size >= p.size {
				return true, size
			}
			most = max(most, size)
		}
	}
	return false, most
}
