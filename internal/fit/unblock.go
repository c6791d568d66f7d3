package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const defaultClass = "storageclass.kubernetes.io/is-default-class"

// unblocked finds the ways by which nothing blocks the pod on every node. Where
// nothing does, that is the beginning itself.
func (s *search) unblocked(begin variant, blocked []Failure) []variant {
	if len(blocked) == 0 {
		return []variant{begin}
	}
	var out []variant
	ways := []variant{begin}
	// Each turn may show what was hidden behind what it cured: a claim that is made
	// still needs a class.
	for range 6 {
		var next []variant
		for _, v := range ways {
			c := v.model.cycle(v.pod)
			if len(c.blocked) == 0 {
				out = append(out, v)
				continue
			}
			for _, e := range unblockOptions(v, &c.blocked[0]) {
				next = append(next, v.with(e))
			}
		}
		if ways = next; len(ways) == 0 || len(ways) > 8 {
			break
		}
	}
	return out
}

func unblockOptions(v variant, f *Failure) []edit {
	switch {
	case f.Plugin == NodeAffinity:
		return []edit{{Edit: Edit{Kind: RelaxAffinity, Object: podRef(v.pod), Of: "nodeAffinity"}, cost: 4.5, harm: PodOnly,
			text: "drop the pod's required node affinity, whose terms contradict themselves", do: onPod(func(p *v1.Pod) { p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil })}}
	case f.Plugin == DynamicResources && f.Claim != nil:
		return claimOptions(v, f)
	case f.Volume == nil:
		return nil
	}
	claim := v.model.claims[v.pod.Namespace+"/"+f.Volume.Claim]
	own := v.ephemeral(f.Volume)
	switch {
	case own != nil && (claim == nil || claim.DeletionTimestamp != nil || !metav1.IsControlledBy(claim, v.pod)):
		return ownClaim(v, f.Volume, own, claim)
	case claim == nil:
		return createClaim(v, f.Volume.Claim, CreateClaim)
	case f.Plugin == VolumeZone, claim.Status.Phase == v1.ClaimLost:
		return []edit{createVolume(claim, claim.Spec.VolumeName, nil, "")}
	case claim.DeletionTimestamp != nil:
		return createClaim(v, f.Volume.Claim, ReplaceClaim)
	case claim.Spec.VolumeName != "" && v.model.volumes[claim.Spec.VolumeName] != nil:
		return nil // it is the controller's turn to bind them
	}
	out := []edit{createVolume(claim, claim.Spec.VolumeName, nil, "")}
	if class := claimClass(claim); class != "" && v.model.classes[class] == nil && claim.Spec.VolumeName == "" {
		for _, provisioner := range slices.Sorted(maps.Keys(v.model.csiDrivers)) {
			out = append(out, createClass(class, provisioner))
			break
		}
	}
	return out
}

// ephemeral is the volume of the pod whose claim lives as long as the pod does, if
// it is one.
func (v variant) ephemeral(ref *VolumeRef) *v1.Volume {
	i := slices.IndexFunc(v.pod.Spec.Volumes, func(x v1.Volume) bool { return x.Name == ref.Name && x.Ephemeral != nil })
	if i < 0 {
		return nil
	}
	return &v.pod.Spec.Volumes[i]
}

// ownClaim is what the controller manager makes for an ephemeral volume, once what
// stands in its place is gone.
func ownClaim(v variant, ref *VolumeRef, volume *v1.Volume, old *v1.PersistentVolumeClaim) []edit {
	if volume.Ephemeral.VolumeClaimTemplate == nil {
		return nil
	}
	yes := true
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: v.pod.Namespace, Name: ref.Claim,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: v.pod.Name, UID: v.pod.UID, Controller: &yes}}},
		Spec: *volume.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(), Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
	e := edit{Edit: Edit{Kind: CreateClaim, Object: Ref{Kind: PersistentVolumeClaims, Namespace: claim.Namespace, Name: claim.Name},
		Volume: &VolumeRef{Name: ref.Name, Claim: ref.Claim, Class: claimClass(claim)}}, cost: 2, harm: NoHarm,
		text:  fmt.Sprintf("get the controller manager to make claim %s of the pod's own volume %s", ref.Claim, ref.Name),
		waits: "the controller of ephemeral volumes makes the claim",
		do:    func(m *Model, p *v1.Pod) (*Model, *v1.Pod) { return m.withClaim(claim), p }}
	if old != nil {
		e.Kind, e.harm, e.cost = ReplaceClaim, Disrupts, 5
		e.text = fmt.Sprintf("delete claim %s, which stands where that of the pod's own volume %s belongs, with what is on it", ref.Claim, ref.Name)
	}
	return []edit{e}
}

// createClaim makes a claim that does not exist, or is about to go, of a class that
// makes a volume for it once the pod has a node.
func createClaim(v variant, name string, kind ChangeKind) []edit {
	var classes []*storagev1.StorageClass
	for _, k := range slices.Sorted(maps.Keys(v.model.classes)) {
		c := v.model.classes[k]
		if c.Provisioner != noProvisioner && c.VolumeBindingMode != nil && *c.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer {
			classes = append(classes, c)
		}
	}
	slices.SortStableFunc(classes, func(a, b *storagev1.StorageClass) int {
		return strings.Compare(b.Annotations[defaultClass], a.Annotations[defaultClass])
	})
	var out []edit
	for _, c := range classes[:min(4, len(classes))] {
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: v.pod.Namespace, Name: name},
			Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &c.Name, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}}}
		text := fmt.Sprintf("create claim %s, as of storage class %s", name, c.Name)
		if kind == ReplaceClaim {
			text = fmt.Sprintf("once claim %s is gone, create it anew, as of storage class %s", name, c.Name)
		}
		out = append(out, edit{Edit: Edit{Kind: kind, Object: Ref{Kind: PersistentVolumeClaims, Namespace: v.pod.Namespace, Name: name}, Volume: &VolumeRef{Claim: name, Class: c.Name, Driver: c.Provisioner}},
			cost: 2, harm: NoHarm, text: text, waits: fmt.Sprintf("%s makes the volume", c.Provisioner),
			do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) { return m.withClaim(claim), p }})
	}
	return out
}

func createClass(name, provisioner string) edit {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	return edit{Edit: Edit{Kind: CreateClass, Object: Ref{Kind: StorageClasses, Name: name}, Volume: &VolumeRef{Class: name, Driver: provisioner}}, cost: 2, harm: NoHarm,
		text: fmt.Sprintf("create storage class %s, as of provisioner %s", name, provisioner), waits: provisioner + " makes the volume",
		do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
			c := m.clone()
			c.classes = maps.Clone(m.classes)
			c.classes[name] = class
			return c, p
		}}
}

// createVolume makes a volume for a claim: any that will do, or the one that the
// claim names. For a claim that should have been bound before, the controller of
// volumes binds them; else the scheduler does.
func createVolume(claim *v1.PersistentVolumeClaim, name string, at *v1.VolumeNodeAffinity, node string) edit {
	size := claim.Spec.Resources.Requests[v1.ResourceStorage]
	class := claimClass(claim)
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PersistentVolumeSpec{
		Capacity: v1.ResourceList{v1.ResourceStorage: size}, AccessModes: claim.Spec.AccessModes, StorageClassName: class, VolumeMode: claim.Spec.VolumeMode,
		VolumeAttributesClassName: claim.Spec.VolumeAttributesClassName, NodeAffinity: at}, Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
	if claim.Spec.Selector != nil {
		pv.Labels = maps.Clone(claim.Spec.Selector.MatchLabels)
	}
	what := "a volume"
	if name == "" {
		pv.Name = "for-" + claim.Name
	} else {
		what = "volume " + name
	}
	bound := node == ""
	where := ""
	if !bound {
		where = " that can be used on node " + node
	}
	e := edit{Edit: Edit{Kind: CreateVolume, Object: Ref{Kind: PersistentVolumes, Name: name}, Node: node, Volume: &VolumeRef{Claim: claim.Name, Volume: name, Class: class, Requested: size.Value()}},
		cost: 3, harm: NoHarm, text: fmt.Sprintf("create %s of %s and storage class %q%s for claim %s", what, bytes(size.Value()), class, where, claim.Name)}
	if bound {
		e.waits = fmt.Sprintf("the controller of volumes binds claim %s", claim.Name)
	}
	e.do = func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
		pv, claim := pv.DeepCopy(), claim.DeepCopy()
		if bound {
			pv.Status.Phase = v1.VolumeBound
			pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
			claim.Spec.VolumeName = pv.Name
			claim.Status.Phase = v1.ClaimBound
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, annBindCompleted, "yes")
			m = m.withClaim(claim)
		} else {
			m = m.clone()
		}
		v := newVolume(pv)
		m.volumes, m.byClass = maps.Clone(m.volumes), maps.Clone(m.byClass)
		m.volumes[pv.Name] = v
		m.byClass[class] = append(slices.Clone(m.byClass[class]), v)
		return m, p
	}
	return e
}

func (m *Model) withClaim(claim *v1.PersistentVolumeClaim) *Model {
	c := m.clone()
	c.claims = maps.Clone(m.claims)
	c.claims[claim.Namespace+"/"+claim.Name] = claim
	return c
}

// volumeOptions makes a volume on the node for a claim that waits for one. A claim
// whose volume is being made elsewhere is left alone.
func volumeOptions(v variant, node string, ref *VolumeRef) []edit {
	claim := v.model.claims[v.pod.Namespace+"/"+ref.Claim]
	i, ok := v.model.byName[node]
	if claim == nil || !ok || claim.Spec.Selector != nil && len(claim.Spec.Selector.MatchExpressions) > 0 {
		return nil
	}
	host, ok := v.model.nodes[i].labels[v1.LabelHostname]
	if !ok {
		return nil
	}
	return []edit{createVolume(claim, "", &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{host}}}}}}}, node)}
}

// claimOptions makes a device class that does not exist. A resource claim that does
// not exist is its owner's to make: what it is to ask for is not known.
func claimOptions(v variant, f *Failure) []edit {
	claim := v.model.resourceClaims[f.Claim.Namespace+"/"+f.Claim.Name]
	if claim == nil || claim.DeletionTimestamp != nil {
		return nil
	}
	for _, class := range classesOf(claim) {
		if v.model.devices.byName[class] != nil {
			continue
		}
		x := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: class}}
		return []edit{{Edit: Edit{Kind: CreateClass, Object: Ref{Kind: DeviceClasses, Name: class}}, cost: 2.5, harm: NoHarm,
			text: fmt.Sprintf("create device class %s", class),
			do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
				c := m.clone()
				c.cluster.DeviceClasses = append(slices.Clone(m.cluster.DeviceClasses), x)
				c.devices = newDevices(&c.cluster)
				return c, p
			}}}
	}
	return nil
}

func classesOf(claim *resourcev1.ResourceClaim) []string {
	var out []string
	for i := range claim.Spec.Devices.Requests {
		q := &claim.Spec.Devices.Requests[i]
		if q.Exactly != nil {
			out = append(out, q.Exactly.DeviceClassName)
		}
		for j := range q.FirstAvailable {
			out = append(out, q.FirstAvailable[j].DeviceClassName)
		}
	}
	return out
}
