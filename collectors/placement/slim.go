package placement

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slim copies of a pod what bears on its own place and on those of others. Of a
// large cluster that is a tenth of its pods.
func slim(p *corev1.Pod) *corev1.Pod {
	s, st := &p.Spec, &p.Status
	out := &corev1.Pod{
		ObjectMeta: bare(p.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName: s.NodeName, SchedulerName: s.SchedulerName, SchedulingGates: s.SchedulingGates,
			Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: s.PreemptionPolicy,
			NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations, TopologySpreadConstraints: s.TopologySpreadConstraints,
			Containers: slimContainers(s.Containers), InitContainers: slimContainers(s.InitContainers),
			Overhead: s.Overhead, Resources: s.Resources, HostNetwork: s.HostNetwork, HostUsers: s.HostUsers, OS: s.OS,
			ResourceClaims: s.ResourceClaims, SchedulingGroup: s.SchedulingGroup,
			TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds,
		},
		Status: corev1.PodStatus{
			Phase: st.Phase, NominatedNodeName: st.NominatedNodeName, StartTime: st.StartTime, Resize: st.Resize,
			ContainerStatuses: slimStatuses(st.ContainerStatuses), InitContainerStatuses: slimStatuses(st.InitContainerStatuses),
			ResourceClaimStatuses: st.ResourceClaimStatuses, ExtendedResourceClaimStatus: st.ExtendedResourceClaimStatus,
			AllocatedResources: st.AllocatedResources, Resources: st.Resources,
			ObservedGeneration: st.ObservedGeneration,
		},
	}
	out.Generation = p.Generation
	for _, v := range s.Volumes {
		if attached(v.VolumeSource) {
			out.Spec.Volumes = append(out.Spec.Volumes, v)
		}
	}
	for _, c := range st.Conditions {
		switch c.Type {
		case corev1.PodScheduled, corev1.DisruptionTarget, corev1.PodResizePending, corev1.PodResizeInProgress:
			out.Status.Conditions = append(out.Status.Conditions, c)
		case corev1.PodReady: // budgets count those that are
			out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
		}
	}
	return out
}

// bare are the parts of the metadata that selectors, owners and times go by.
func bare(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, Labels: m.Labels, OwnerReferences: m.OwnerReferences,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Finalizers: m.Finalizers,
	}
}

func slimContainers(cs []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(cs))
	for i, c := range cs {
		out[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules, ResizePolicy: c.ResizePolicy}
		for _, m := range c.VolumeMounts {
			if len(m.BindMountOptions) > 0 { // which not every kubelet can do
				out[i].VolumeMounts = append(out[i].VolumeMounts, m)
			}
		}
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				out[i].Ports = append(out[i].Ports, p)
			}
		}
	}
	return out
}

func slimStatuses(ss []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, s := range ss {
		if s.Resources == nil && len(s.AllocatedResources) == 0 {
			continue
		}
		out = append(out, corev1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources})
	}
	return out
}

// attached reports whether a volume may bind a pod to a node: it is one that is
// attached or mounted from elsewhere, and not made of what is on every node.
func attached(v corev1.VolumeSource) bool {
	return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.CSI != nil || v.GCEPersistentDisk != nil ||
		v.AWSElasticBlockStore != nil || v.AzureDisk != nil || v.Cinder != nil || v.RBD != nil || v.ISCSI != nil
}
