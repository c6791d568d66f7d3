package pending

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (w *World) scheduler() string {
	if w.chance(70) {
		return v1.DefaultSchedulerName
	}
	return pick(w, tuned, tuned, picky, reduced)
}

// owners are services and controllers, by whose selectors pods are spread by default.
func (w *World) owners() {
	two := int32(2)
	for i := range 1 + w.r.IntN(4) {
		ns, app := w.namespace(), w.app()
		meta := metav1.ObjectMeta{Name: w.name("owner", i), Namespace: ns, UID: w.uid()}
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		if w.chance(20) {
			selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "version", Operator: metav1.LabelSelectorOpExists}}
			selector.MatchLabels["version"] = "1"
		}
		template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "i"}}}}
		switch w.r.IntN(4) {
		case 0:
			w.ReplicaSets = append(w.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &two, Selector: selector, Template: template}})
		case 1:
			w.StatefulSets = append(w.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &two, Selector: selector, Template: template, ServiceName: "s"}})
		case 2:
			w.ReplicationControllers = append(w.ReplicationControllers, &v1.ReplicationController{ObjectMeta: meta, Spec: v1.ReplicationControllerSpec{Replicas: &two, Selector: selector.MatchLabels, Template: &template}})
		default:
			w.Services = append(w.Services, &v1.Service{ObjectMeta: meta, Spec: v1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": app}}})
		}
	}
}

// owned makes a pod one of a controller of its namespace, now and then of one that
// is gone.
func (w *World) owned(p *v1.Pod) {
	if !w.chance(50) {
		return
	}
	yes := true
	own := func(api, kind string, m *metav1.ObjectMeta, labels map[string]string) {
		if m.Namespace != p.Namespace || len(p.OwnerReferences) > 0 {
			return
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: m.Name, UID: m.UID, Controller: &yes}}
		if w.chance(80) {
			for k, v := range labels {
				p.Labels[k] = v
			}
		}
	}
	for _, o := range w.ReplicaSets {
		own("apps/v1", "ReplicaSet", &o.ObjectMeta, o.Spec.Selector.MatchLabels)
	}
	for _, o := range w.StatefulSets {
		own("apps/v1", "StatefulSet", &o.ObjectMeta, o.Spec.Selector.MatchLabels)
	}
	for _, o := range w.ReplicationControllers {
		own("v1", "ReplicationController", &o.ObjectMeta, o.Spec.Selector)
	}
	if len(p.OwnerReferences) == 0 && w.chance(10) {
		own("apps/v1", "ReplicaSet", &metav1.ObjectMeta{Namespace: p.Namespace, Name: "gone", UID: w.uid()}, nil)
	}
}

// ephemeral gives a pod a volume whose claim lives as long as the pod does: made
// already, not made yet, or another's.
func (w *World) ephemeral(p *v1.Pod, volume string) {
	claim := p.Name + "-" + volume
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: volume, VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{
		VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: quantity(1 << 30)}}}}}}})
	if w.chance(20) || w.behind && p.Spec.NodeName != "" {
		return
	}
	made := w.claim(p.Namespace)
	i := slices.IndexFunc(w.PersistentVolumeClaims, func(c *v1.PersistentVolumeClaim) bool { return c.Name == made && c.Namespace == p.Namespace })
	if i < 0 {
		return
	}
	c := w.PersistentVolumeClaims[i]
	c.Name = claim
	if v := c.Spec.VolumeName; v != "" {
		for _, pv := range w.PersistentVolumes {
			if pv.Name == v && pv.Spec.ClaimRef != nil {
				pv.Spec.ClaimRef.Name = claim
			}
		}
	}
	for _, pv := range w.PersistentVolumes {
		if r := pv.Spec.ClaimRef; r != nil && r.Name == made && r.Namespace == p.Namespace {
			r.Name = claim
		}
	}
	yes := true
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}
	// Of a running pod that is another's the scheduler's attempts end in errors.
	if w.chance(90) || p.Spec.NodeName != "" && !w.chance(5) {
		c.OwnerReferences = []metav1.OwnerReference{owner}
	}
}

// attachments are volumes attached to nodes, for pods there or for none any more.
func (w *World) attachments() {
	for i, v := range w.PersistentVolumes {
		if !w.chance(30) {
			continue
		}
		driver := w.prefix + countingDriver
		if v.Spec.CSI != nil {
			driver = v.Spec.CSI.Driver
		}
		w.VolumeAttachments = append(w.VolumeAttachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: w.name("attachment", i)},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: w.someNode().Name, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &v.Name}}})
	}
}

// nominated is a pod that waits for others to leave a node.
func (w *World) nominated(i int) {
	p := w.base(w.name("nominated", i))
	p.Status.NominatedNodeName = w.someNode().Name
	p.Status.Phase = v1.PodPending
	c := &p.Spec.Containers[0]
	c.Resources.Requests = w.requests(30)
	if w.chance(30) {
		w.port(c)
	}
	if w.chance(30) {
		w.antiAffinity(p)
	}
	if w.chance(15) {
		p.Spec.SchedulerName = "another"
	}
	merge(p)
	w.Pods = append(w.Pods, p)
}

// merge does what the API server does with a new pod: it adds to the selectors of
// affinity terms what their match label keys and mismatch label keys stand for.
func merge(p *v1.Pod) {
	each := func(terms []v1.PodAffinityTerm) {
		for i := range terms {
			t := &terms[i]
			if t.LabelSelector == nil {
				continue
			}
			add := func(keys []string, op metav1.LabelSelectorOperator) {
				for _, k := range keys {
					if v, ok := p.Labels[k]; ok {
						t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
					}
				}
			}
			add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
			add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
		}
	}
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAffinity != nil {
		each(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		each(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}
