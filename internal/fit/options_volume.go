package fit

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// bindingOptions get a claim of the pod a volume that can be used on the node.
func bindingOptions(v variant, node string, f *Failure) []edit {
	claim := v.model.claims[v.pod.Namespace+"/"+f.Volume.Claim]
	if claim == nil {
		return nil
	}
	switch f.Reason {
	case bindingReasons[noVolumeToBind], bindingReasons[noCapacity]:
		if claim.Annotations[annSelectedNode] != "" && claim.Annotations[annSelectedNode] != node {
			return []edit{resetClaim(claim)}
		}
		return volumeOptions(v, node, f.Volume)
	case bindingReasons[volumeGone]:
		return []edit{createVolume(claim, claim.Spec.VolumeName, nil, "")}
	}
	return nil
}

// resetClaim takes back the choice of a node for a claim whose volume is not there.
func resetClaim(claim *v1.PersistentVolumeClaim) edit {
	return edit{Edit: Edit{Kind: ResetClaim, Object: Ref{Kind: PersistentVolumeClaims, Namespace: claim.Namespace, Name: claim.Name}, Volume: &VolumeRef{Claim: claim.Name}},
		cost: 3.5, harm: NoHarm, text: fmt.Sprintf("take back the choice of node %s for claim %s, whose volume has not been made", claim.Annotations[annSelectedNode], claim.Name),
		do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
			c := claim.DeepCopy()
			delete(c.Annotations, annSelectedNode)
			return m.withClaim(c), p
		}}
}

// deviceOptions free devices on the node for the pod's claims.
func (v variant) deviceOptions(node string, f *Failure) []edit {
	d := v.model.devices
	own := func(c *resourcev1.ResourceClaim) bool {
		return len(c.Status.ReservedFor) == 0 || len(c.Status.ReservedFor) == 1 && c.Status.ReservedFor[0].UID == v.pod.UID
	}
	ref := func(c *resourcev1.ResourceClaim) Ref {
		return Ref{Kind: ResourceClaims, Namespace: c.Namespace, Name: c.Name}
	}
	if f.Claim != nil && f.Reason == "resourceclaim not available on the node" {
		claim := v.model.resourceClaims[f.Claim.Namespace+"/"+f.Claim.Name]
		if claim == nil || claim.Status.Allocation == nil || !own(claim) {
			return nil
		}
		return []edit{{Edit: Edit{Kind: FreeDevices, Object: ref(claim), Claims: []Ref{ref(claim)}, Self: true}, cost: 2, harm: NoHarm,
			text: fmt.Sprintf("give back the devices of resource claim %s, which nobody uses, as the scheduler will do by itself", claim.Name),
			do:   givenBack([]*resourcev1.ResourceClaim{claim})}}
	}
	var out []edit
	pools := map[string]bool{} // of the node
	for _, s := range d.slices {
		if s.Spec.NodeName != nil && *s.Spec.NodeName == node {
			pools[s.Spec.Driver+"/"+s.Spec.Pool.Name] = true
		}
	}
	var idle, used []*resourcev1.ResourceClaim
	for _, c := range d.claims {
		a := c.Status.Allocation
		if a == nil || !slices.ContainsFunc(a.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool { return pools[r.Driver+"/"+r.Pool] }) {
			continue
		}
		if len(c.Status.ReservedFor) == 0 {
			idle = append(idle, c)
		} else {
			used = append(used, c)
		}
	}
	if len(idle) > 0 {
		var refs []Ref
		for _, c := range idle {
			refs = append(refs, ref(c))
		}
		out = append(out, edit{Edit: Edit{Kind: FreeDevices, Object: Ref{Kind: Nodes, Name: node}, Claims: refs}, cost: 5, harm: Others,
			text: fmt.Sprintf("delete %s, which no pod uses and which %s devices on node %s", names(refs), holdOrHolds(len(refs)), node), do: givenBack(idle)})
	}
	for _, c := range used {
		var pods []*podInfo
		for _, r := range c.Status.ReservedFor {
			for _, p := range v.model.placed[c.Namespace] {
				if p.pod.pod.UID == r.UID {
					pods = append(pods, p.pod)
				}
			}
		}
		if len(pods) != len(c.Status.ReservedFor) {
			continue
		}
		for _, e := range v.stopPods(FreeDevices, pods, "free the devices of resource claim "+c.Name+" on node "+node) {
			stop := e.do
			back := givenBack([]*resourcev1.ResourceClaim{c})
			e.Claims = []Ref{ref(c)}
			e.waits = "their resource claims are given back"
			e.do = func(m *Model, p *v1.Pod) (*Model, *v1.Pod) { return back(stop(m, p)) }
			out = append(out, e)
		}
		if len(out) > 3 {
			break
		}
	}
	return out
}

func holdOrHolds(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

// givenBack ends the allocation of resource claims.
func givenBack(claims []*resourcev1.ResourceClaim) func(*Model, *v1.Pod) (*Model, *v1.Pod) {
	return func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
		m = m.clone()
		m.resourceClaims = maps.Clone(m.resourceClaims)
		m.cluster.ResourceClaims = slices.Clone(m.cluster.ResourceClaims)
		for _, c := range claims {
			free := c.DeepCopy()
			free.Status.Allocation, free.Status.ReservedFor = nil, nil
			m.resourceClaims[c.Namespace+"/"+c.Name] = free
			for i, o := range m.cluster.ResourceClaims {
				if o.Namespace == c.Namespace && o.Name == c.Name {
					m.cluster.ResourceClaims[i] = free
				}
			}
		}
		m.devices = newDevices(&m.cluster)
		return m, p
	}
}
