package pending

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/internal/fit"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Apply makes the edits of a change, as its reader would: from what it says alone.
// Objects that it changes are copied.
func Apply(c fit.Cluster, pod *v1.Pod, change fit.Change) (fit.Cluster, *v1.Pod, error) {
	pod = pod.DeepCopy()
	for _, e := range change.Edits {
		if err := apply(&c, pod, change, e); err != nil {
			return c, pod, fmt.Errorf("%s: %w", e.Kind, err)
		}
	}
	return c, pod, nil
}

func apply(c *fit.Cluster, pod *v1.Pod, change fit.Change, e fit.Edit) error {
	switch e.Kind {
	case fit.LowerRequest:
		for _, cut := range append([]fit.Cut{{Container: e.Container, From: e.From, To: e.To}}, e.More...) {
			if err := lower(pod, v1.ResourceName(e.Resource), cut); err != nil {
				return err
			}
		}
	case fit.AddLabel:
		return editNode(c, e.Object.Name, func(n *v1.Node) { maps.Copy(n.Labels, e.Labels) })
	case fit.Tolerate:
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: e.Taint.Key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffect(e.Taint.Effect)})
	case fit.RemoveTaint:
		return editNode(c, e.Object.Name, func(n *v1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == e.Taint.Key && string(t.Effect) == e.Taint.Effect })
		})
	case fit.Uncordon:
		return editNode(c, e.Object.Name, func(n *v1.Node) { n.Spec.Unschedulable = false })
	case fit.FreePort, fit.FreeVolume, fit.EvictPods:
		before := len(c.Pods)
		c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool {
			return slices.ContainsFunc(e.Pods, func(r fit.Ref) bool { return r.Namespace == p.Namespace && r.Name == p.Name })
		})
		if before-len(c.Pods) != len(e.Pods) {
			return fmt.Errorf("%d of %d pods were there", before-len(c.Pods), len(e.Pods))
		}
	case fit.DropSelector:
		for k := range e.Labels {
			delete(pod.Spec.NodeSelector, k)
		}
	case fit.RelaxAffinity:
		if len(e.Terms) > 0 {
			return relaxOthers(c, e.Terms)
		}
		relax(pod, e, change)
	case fit.RelaxSpread:
		t := &pod.Spec.TopologySpreadConstraints[e.Index]
		switch {
		case e.MaxSkew > 0:
			t.MaxSkew = e.MaxSkew
		case e.MinDomains > 0:
			t.MinDomains = &e.MinDomains
		case e.TaintsPolicy != "":
			t.NodeTaintsPolicy = (*v1.NodeInclusionPolicy)(&e.TaintsPolicy)
		case e.AffinityPolicy != "":
			t.NodeAffinityPolicy = (*v1.NodeInclusionPolicy)(&e.AffinityPolicy)
		default:
			t.WhenUnsatisfiable, t.MinDomains = v1.ScheduleAnyway, nil
		}
	case fit.OwnSpread:
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: e.Of,
			WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: e.Labels}})
	case fit.DropPort:
		for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				for j := range list[i].Ports {
					if p := &list[i].Ports[j]; p.HostPort == e.Port.Port && string(p.Protocol) == e.Port.Protocol {
						p.HostPort = 0
					}
				}
			}
		}
	case fit.MendNode:
		return editNode(c, e.Object.Name, func(n *v1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == e.Taint.Key })
		})
	case fit.InstallDriver:
		i := slices.IndexFunc(c.CSINodes, func(x *storagev1.CSINode) bool { return x.Name == e.Object.Name })
		x := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: e.Object.Name}}
		c.CSINodes = slices.Clone(c.CSINodes)
		if i >= 0 {
			x = c.CSINodes[i].DeepCopy()
			c.CSINodes[i] = x
		} else {
			c.CSINodes = append(c.CSINodes, x)
		}
		x.Spec.Drivers = append(x.Spec.Drivers, storagev1.CSINodeDriver{Name: e.Volume.Driver, NodeID: x.Name})
	case fit.UpgradeNode:
		return editNode(c, e.Object.Name, func(n *v1.Node) {
			n.Status.DeclaredFeatures = append(n.Status.DeclaredFeatures, e.Shape.Features...)
			slices.Sort(n.Status.DeclaredFeatures)
		})
	case fit.Detach:
		c.VolumeAttachments = slices.DeleteFunc(slices.Clone(c.VolumeAttachments), func(x *storagev1.VolumeAttachment) bool {
			return slices.ContainsFunc(e.Attachments, func(r fit.Ref) bool { return r.Name == x.Name })
		})
	case fit.ResetClaim:
		return editClaim(c, e.Object, func(x *v1.PersistentVolumeClaim) {
			delete(x.Annotations, "volume.kubernetes.io/selected-node")
			delete(x.Annotations, chosenBefore)
		})
	case fit.FreeDevices:
		if len(e.Pods) > 0 {
			c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool {
				return slices.ContainsFunc(e.Pods, func(r fit.Ref) bool { return r.Namespace == p.Namespace && r.Name == p.Name })
			})
		}
		c.ResourceClaims = slices.Clone(c.ResourceClaims)
		for i, x := range c.ResourceClaims {
			if slices.ContainsFunc(e.Claims, func(r fit.Ref) bool { return r.Namespace == x.Namespace && r.Name == x.Name }) {
				x = x.DeepCopy()
				x.Status.Allocation, x.Status.ReservedFor = nil, nil
				c.ResourceClaims[i] = x
			}
		}
	case fit.RemoveGates:
		pod.Spec.SchedulingGates = nil
	case fit.AddNode:
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: e.Object.Name, Labels: maps.Clone(e.Shape.Labels)}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{}}}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		if n.Labels[v1.LabelHostname] == "" {
			n.Labels[v1.LabelHostname] = n.Name
		}
		for name, x := range e.Shape.Allocatable {
			n.Status.Allocatable[v1.ResourceName(name)] = amount(v1.ResourceName(name), x)
		}
		n.Status.Capacity = n.Status.Allocatable
		n.Status.DeclaredFeatures = e.Shape.Features
		if len(e.Shape.Drivers) > 0 {
			x := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			for _, d := range e.Shape.Drivers {
				x.Spec.Drivers = append(x.Spec.Drivers, storagev1.CSINodeDriver{Name: d, NodeID: n.Name})
			}
			c.CSINodes = append(slices.Clone(c.CSINodes), x)
		}
		for _, s := range c.ResourceSlices {
			if e.Shape.Like != "" && s.Spec.NodeName != nil && *s.Spec.NodeName == e.Shape.Like {
				x := s.DeepCopy()
				x.Name, x.ResourceVersion, x.UID = n.Name+"-"+s.Name, "", ""
				x.Spec.NodeName, x.Spec.Pool.Name = &n.Name, n.Name
				c.ResourceSlices = append(slices.Clone(c.ResourceSlices), x)
			}
		}
		c.Nodes = append(slices.Clone(c.Nodes), n)
	case fit.CreateClaim, fit.ReplaceClaim:
		c.PersistentVolumeClaims = slices.DeleteFunc(slices.Clone(c.PersistentVolumeClaims), func(x *v1.PersistentVolumeClaim) bool {
			return x.Namespace == e.Object.Namespace && x.Name == e.Object.Name
		})
		for _, v := range pod.Spec.Volumes {
			if v.Name == e.Volume.Name && v.Ephemeral != nil { // the controller makes it
				yes := true
				c.PersistentVolumeClaims = append(c.PersistentVolumeClaims, &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: e.Object.Name,
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}}},
					Spec: v.Ephemeral.VolumeClaimTemplate.Spec, Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}})
				return nil
			}
		}
		mode := v1.PersistentVolumeFilesystem
		c.PersistentVolumeClaims = append(slices.Clone(c.PersistentVolumeClaims), &v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: e.Object.Namespace, Name: e.Object.Name},
			Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &e.Volume.Class, VolumeMode: &mode, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}}})
	case fit.CreateClass:
		if e.Object.Kind == fit.DeviceClasses {
			c.DeviceClasses = append(slices.Clone(c.DeviceClasses), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: e.Object.Name}})
			break
		}
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		c.StorageClasses = append(slices.Clone(c.StorageClasses), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: e.Object.Name}, Provisioner: e.Volume.Driver, VolumeBindingMode: &mode})
	case fit.CreateVolume:
		return createVolume(c, pod, change, e)
	default:
		return fmt.Errorf("not known")
	}
	return nil
}

func amount(name v1.ResourceName, n int64) resource.Quantity {
	if name == v1.ResourceCPU {
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

func lower(pod *v1.Pod, name v1.ResourceName, cut fit.Cut) error {
	set := func(r *v1.ResourceRequirements) error {
		if q := r.Requests[name]; q.Cmp(amount(name, cut.From)) != 0 {
			return fmt.Errorf("%s is %s, not %d", name, q.String(), cut.From)
		}
		r.Requests[name] = amount(name, cut.To)
		if _, ok := r.Limits[name]; ok {
			r.Limits[name] = amount(name, cut.To)
		}
		return nil
	}
	if cut.Container == "" {
		return set(pod.Spec.Resources)
	}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == cut.Container {
				return set(&list[i].Resources)
			}
		}
	}
	return fmt.Errorf("no container %s", cut.Container)
}

func editNode(c *fit.Cluster, name string, do func(*v1.Node)) error {
	i := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == name })
	if i < 0 {
		return fmt.Errorf("no node %s", name)
	}
	n := c.Nodes[i].DeepCopy()
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	do(n)
	c.Nodes = slices.Clone(c.Nodes)
	c.Nodes[i] = n
	return nil
}

func editClaim(c *fit.Cluster, ref fit.Ref, do func(*v1.PersistentVolumeClaim)) error {
	i := slices.IndexFunc(c.PersistentVolumeClaims, func(x *v1.PersistentVolumeClaim) bool { return x.Namespace == ref.Namespace && x.Name == ref.Name })
	if i < 0 {
		return fmt.Errorf("no claim %s", ref.Name)
	}
	c.PersistentVolumeClaims = slices.Clone(c.PersistentVolumeClaims)
	c.PersistentVolumeClaims[i] = c.PersistentVolumeClaims[i].DeepCopy()
	do(c.PersistentVolumeClaims[i])
	return nil
}

// relaxOthers drops terms of pods that run, the last of each first.
func relaxOthers(c *fit.Cluster, terms []fit.PodTerm) error {
	c.Pods = slices.Clone(c.Pods)
	done := map[fit.Ref]bool{}
	for _, t := range slices.Backward(terms) {
		i := slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return p.Namespace == t.Pod.Namespace && p.Name == t.Pod.Name })
		if i < 0 {
			return fmt.Errorf("no pod %s", t.Pod.Name)
		}
		if !done[t.Pod] {
			done[t.Pod] = true
			c.Pods[i] = c.Pods[i].DeepCopy()
		}
		a := c.Pods[i].Spec.Affinity.PodAntiAffinity
		a.RequiredDuringSchedulingIgnoredDuringExecution = slices.Delete(a.RequiredDuringSchedulingIgnoredDuringExecution, t.Index, t.Index+1)
	}
	return nil
}

// relax drops a term. The places of terms are those before the change: a term is
// dropped by what is there, so that those before it that went do not matter.
func relax(pod *v1.Pod, e fit.Edit, change fit.Change) {
	before := 0
	for _, o := range change.Edits {
		if o.Kind == fit.RelaxAffinity && o.Of == e.Of && o.Index < e.Index {
			before++
		}
	}
	i := e.Index - before
	a := pod.Spec.Affinity
	switch e.Of {
	case "nodeAffinity":
		if len(e.Expressions) == 0 {
			a.NodeAffinity = nil
			return
		}
		t := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[e.Index]
		for _, j := range slices.Backward(e.Expressions) {
			t.MatchExpressions = slices.Delete(t.MatchExpressions, j, j+1)
		}
	case "podAffinity":
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = slices.Delete(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i, i+1)
	case "podAntiAffinity":
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = slices.Delete(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i, i+1)
	}
}

// createVolume makes the volume, and does the work of the controller of volumes
// where the change says that it has to follow.
func createVolume(c *fit.Cluster, pod *v1.Pod, change fit.Change, e fit.Edit) error {
	i := slices.IndexFunc(c.PersistentVolumeClaims, func(x *v1.PersistentVolumeClaim) bool {
		return x.Namespace == pod.Namespace && x.Name == e.Volume.Claim
	})
	if i < 0 {
		return fmt.Errorf("no claim %s", e.Volume.Claim)
	}
	claim := c.PersistentVolumeClaims[i].DeepCopy()
	name := e.Object.Name
	if name == "" {
		name = "for-" + claim.Name
	}
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: v1.PersistentVolumeSpec{
		Capacity: v1.ResourceList{v1.ResourceStorage: amount(v1.ResourceStorage, e.Volume.Requested)}, AccessModes: claim.Spec.AccessModes,
		StorageClassName: e.Volume.Class, VolumeMode: claim.Spec.VolumeMode,
		PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/x"}}}, Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
	if claim.Spec.Selector != nil {
		maps.Copy(v.Labels, claim.Spec.Selector.MatchLabels)
	}
	if e.Node == "" { // the controller binds it
		v.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
		v.Status.Phase = v1.VolumeBound
		claim.Spec.VolumeName = v.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
		claim.Status.Phase = v1.ClaimBound
		c.PersistentVolumeClaims = slices.Clone(c.PersistentVolumeClaims)
		c.PersistentVolumeClaims[i] = claim
	} else {
		n := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == e.Node })
		if n < 0 {
			return fmt.Errorf("no node %s", e.Node)
		}
		v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
			{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{c.Nodes[n].Labels[v1.LabelHostname]}}}}}}}
	}
	c.PersistentVolumes = append(slices.DeleteFunc(slices.Clone(c.PersistentVolumes), func(x *v1.PersistentVolume) bool { return x.Name == v.Name }), v)
	return nil
}
