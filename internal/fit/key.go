package fit

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Key is the same for pods that are alike to the scheduler.
func (m *Model) Key(pod *v1.Pod) string {
	s := &pod.Spec
	// Of the spec only what the filters read is compared.
	k := v1.PodSpec{NodeName: s.NodeName, NodeSelector: s.NodeSelector, Tolerations: s.Tolerations, TopologySpreadConstraints: s.TopologySpreadConstraints,
		SchedulerName: s.SchedulerName, SchedulingGates: s.SchedulingGates, Overhead: s.Overhead, Resources: s.Resources, Priority: s.Priority,
		PreemptionPolicy: s.PreemptionPolicy, ResourceClaims: s.ResourceClaims, HostNetwork: s.HostNetwork, HostUsers: s.HostUsers, SchedulingGroup: s.SchedulingGroup}
	if a := s.Affinity; a != nil {
		k.Affinity = &v1.Affinity{}
		if a.NodeAffinity != nil {
			k.Affinity.NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution}
		}
		if a.PodAffinity != nil {
			k.Affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution}
		}
		if a.PodAntiAffinity != nil {
			k.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution}
		}
	}
	own := len(s.ResourceClaims) > 0
	for i := range s.Volumes {
		v := &s.Volumes[i]
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil || csi.IsInlineMigratable(v) {
			k.Volumes = append(k.Volumes, *v)
		}
		own = own || v.Ephemeral != nil
	}
	containers := func(in []v1.Container) []v1.Container {
		out := make([]v1.Container, len(in))
		for i := range in {
			c := &in[i]
			out[i] = v1.Container{Name: c.Name, Resources: v1.ResourceRequirements{Requests: c.Resources.Requests}, RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules}
			for _, p := range c.Ports {
				if p.HostPort > 0 {
					out[i].Ports = append(out[i].Ports, v1.ContainerPort{HostPort: p.HostPort, HostIP: p.HostIP, Protocol: p.Protocol})
				}
			}
			for _, v := range c.VolumeMounts {
				if len(v.BindMountOptions) > 0 {
					out[i].VolumeMounts = append(out[i].VolumeMounts, v)
				}
			}
		}
		return out
	}
	k.InitContainers, k.Containers = containers(s.InitContainers), containers(s.Containers)
	spec, err := k.Marshal()
	if err != nil {
		own = true
	}
	var b strings.Builder
	b.WriteString(pod.Namespace)
	keys := make([]string, 0, len(pod.Labels))
	for l := range pod.Labels {
		keys = append(keys, l)
	}
	slices.Sort(keys)
	for _, l := range keys {
		b.WriteString("\x00" + l + "=" + pod.Labels[l])
	}
	b.WriteString("\x00" + pod.Status.NominatedNodeName + "\x00")
	for name := range m.devices.standFor {
		// A claim made for this very pod may stand for its extended resources.
		for i := range s.Containers {
			if _, ok := s.Containers[i].Resources.Requests[name]; ok {
				own = true
			}
		}
	}
	if o := metav1.GetControllerOfNoCopy(pod); o != nil && len(m.cluster.Profiles[s.SchedulerName].DefaultSpread) > 0 {
		b.WriteString(o.APIVersion + "/" + o.Kind + "/" + o.Name)
	}
	if own || pod.Status.NominatedNodeName != "" {
		b.WriteString("\x00" + string(pod.UID) + "\x00" + pod.Name)
	}
	b.WriteString("\x00")
	b.Write(spec)
	return b.String()
}
