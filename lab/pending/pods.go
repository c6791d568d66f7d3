package pending

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (w *World) base(name string) *v1.Pod {
	class := pick(w, "probe-low", "probe-none", "probe-none", "probe-mid", "probe-high")
	priority := Priorities[class]
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace(), UID: w.uid(), Labels: map[string]string{}},
		Spec: v1.PodSpec{SchedulerName: w.scheduler(), PriorityClassName: class, Priority: &priority,
			Containers: []v1.Container{{Name: "c", Image: "i"}}}}
	if w.chance(10) {
		p = Peaceful(p)
	}
	if w.chance(80) {
		p.Labels["app"] = w.app()
	}
	if w.chance(30) {
		p.Labels["version"] = pick(w, "1", "2")
	}
	w.owned(p)
	return p
}

func (w *World) requests(most int64) v1.ResourceList {
	l := v1.ResourceList{}
	if w.chance(70) {
		l[v1.ResourceCPU] = *resource.NewMilliQuantity(50*(1+w.r.Int64N(most)), resource.DecimalSI)
	}
	if w.chance(60) {
		l[v1.ResourceMemory] = quantity((1 + w.r.Int64N(most)) << 26)
	}
	if w.chance(15) {
		l[v1.ResourceEphemeralStorage] = quantity((1 + w.r.Int64N(most)) << 28)
	}
	return l
}

// extras are resources of which requests and limits must be the same.
func (w *World) extras(c *v1.Container) {
	set := func(name v1.ResourceName, q string) {
		if c.Resources.Limits == nil {
			c.Resources.Limits = v1.ResourceList{}
		}
		if c.Resources.Requests == nil {
			c.Resources.Requests = v1.ResourceList{}
		}
		c.Resources.Limits[name], c.Resources.Requests[name] = resource.MustParse(q), resource.MustParse(q)
	}
	if w.chance(12) {
		set("example.com/gpu", pick(w, "1", "2"))
	}
	if w.chance(6) {
		set("hugepages-2Mi", "50Mi")
		if _, ok := c.Resources.Requests[v1.ResourceCPU]; !ok {
			c.Resources.Requests[v1.ResourceCPU] = resource.MustParse("10m")
		}
	}
	if w.chance(4) {
		set("example.com/nowhere", "1")
	}
}

func (w *World) port(c *v1.Container) {
	p := v1.ContainerPort{ContainerPort: pick[int32](w, 80, 443), Protocol: pick(w, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP)}
	p.HostPort = p.ContainerPort
	p.HostIP = pick(w, "", "", "10.0.0.1", "10.0.0.2")
	c.Ports = append(c.Ports, p)
}

func (w *World) podTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: pick(w, v1.LabelHostname, v1.LabelTopologyZone, "rack"),
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.app()}}}
	switch {
	case w.chance(15):
		t.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}, {Key: "version", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	case w.chance(8):
		t.LabelSelector = &metav1.LabelSelector{}
	case w.chance(5):
		t.LabelSelector = nil
	}
	if w.chance(12) && t.LabelSelector != nil {
		if w.chance(60) {
			t.MatchLabelKeys = []string{"version"}
		} else {
			t.MismatchLabelKeys = []string{"version"}
		}
	}
	switch {
	case w.chance(20):
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(w, "a", "b")}}
	case w.chance(15):
		t.NamespaceSelector = &metav1.LabelSelector{}
	case w.chance(15):
		t.Namespaces = []string{w.namespace()}
	}
	return t
}

func (w *World) affinity(p *v1.Pod) *v1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	return p.Spec.Affinity
}

func (w *World) antiAffinity(p *v1.Pod) {
	a := w.affinity(p)
	a.PodAntiAffinity = &v1.PodAntiAffinity{}
	for range 1 + w.r.IntN(2) {
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, w.podTerm())
	}
}

func (w *World) volumes(p *v1.Pod) {
	for i := range 1 + w.r.IntN(2) {
		if w.chance(12) {
			w.ephemeral(p, fmt.Sprintf("e%d", i))
			continue
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", i),
			VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: w.claim(p.Namespace)}}})
	}
}

// shareClaim uses the claim of another pod.
func (w *World) shareClaim(p *v1.Pod) {
	for range 5 {
		if len(w.PersistentVolumeClaims) == 0 {
			return
		}
		if c := w.PersistentVolumeClaims[w.r.IntN(len(w.PersistentVolumeClaims))]; c.Namespace == p.Namespace {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "shared",
				VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}})
			return
		}
	}
}

// running is a pod on a node, whether it fits there or not.
func (w *World) running(i int) {
	p := w.base(w.name("run", i))
	p.Spec.NodeName = w.someNode().Name
	p.Status.Phase = v1.PodRunning
	// No two start at once: among pods alike the scheduler's choice of those to stop
	// depends on how it happens to sort them.
	start := metav1.NewTime(time.Unix(1.8e9+1000*w.r.Int64N(1000)+int64(i), 0))
	p.Status.StartTime = &start
	c := &p.Spec.Containers[0]
	c.Resources.Requests = w.requests(12)
	if w.chance(10) {
		w.extras(c)
	}
	if w.chance(15) {
		w.port(c)
	}
	if w.chance(20) {
		w.antiAffinity(p)
	}
	if w.chance(15) {
		w.volumes(p)
	}
	if w.chance(5) {
		disk := w.disk()
		p.Spec.Volumes = append(p.Spec.Volumes, disk)
	}
	switch {
	case w.chance(8):
		p.Status.Phase = v1.PodSucceeded
	case w.chance(10): // a resize is under way
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", Image: "i", ImageID: "i", AllocatedResources: w.requests(20), Resources: &v1.ResourceRequirements{Requests: w.requests(20)}}}
	}
	if !w.behind {
		merge(p)
	}
	w.Pods = append(w.Pods, p)
}

func (w *World) disk() v1.Volume {
	v := v1.Volume{Name: "disk"}
	switch w.r.IntN(3) {
	case 0:
		v.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: pick(w, "d1", "d2"), ReadOnly: w.chance(50)}
	case 1:
		v.ISCSI = &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.9:3260", IQN: "iqn.2026-01.example:" + pick(w, "d1", "d2"), ReadOnly: w.chance(50)}
	default:
		v.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(w, "d1", "d2")}
	}
	return v
}

// probe is a pod to be judged. Each has a few of all constraints there are.
func (w *World) probe(i int) {
	p := w.base(w.name("probe", i))
	c := &p.Spec.Containers[0]
	few := func(percent int) bool { return w.chance(percent) }
	if few(70) {
		c.Resources.Requests = w.requests(40)
	}
	w.extras(c)
	if few(10) {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "d", Image: "i", Resources: v1.ResourceRequirements{Requests: w.requests(20)}})
	}
	if few(15) {
		init := v1.Container{Name: "init", Image: "i", Resources: v1.ResourceRequirements{Requests: w.requests(60)}}
		if w.chance(50) {
			always := v1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
			if w.chance(30) {
				w.port(&init)
			}
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, init)
	}
	if few(8) {
		// The pod's own resources: at least the sum of its containers'.
		p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(w, "6", "8")), v1.ResourceMemory: resource.MustParse("20Gi")}}
		if w.chance(50) {
			for j := range p.Spec.Containers {
				for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
					delete(p.Spec.Containers[j].Resources.Requests, name)
				}
			}
			p.Spec.InitContainers = nil
			p.Spec.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(w, "500m", "1500m"))}
		}
	}
	if few(12) {
		w.port(&p.Spec.Containers[0])
	}
	w.nodeDemands(p)
	w.podDemands(p)
	if few(15) {
		w.volumes(p)
	}
	if few(6) {
		w.shareClaim(p)
	}
	if few(4) {
		p.Spec.Volumes = append(p.Spec.Volumes, w.disk())
	}
	if len(w.DeviceClasses) > 0 {
		w.deviceDemands(p)
	}
	if few(3) {
		no := false
		p.Spec.HostNetwork, p.Spec.HostUsers = true, &no
		for j := range p.Spec.Containers {
			for k := range p.Spec.Containers[j].Ports {
				p.Spec.Containers[j].Ports[k].HostPort = p.Spec.Containers[j].Ports[k].ContainerPort
			}
		}
	}
	if !w.behind {
		merge(p)
	}
	w.Probes = append(w.Probes, p)
}

func (w *World) nodeDemands(p *v1.Pod) {
	for w.chance(35) {
		t := v1.Toleration{Key: pick(w, "dedicated", "example.com/gpu", "node.kubernetes.io/disk-pressure"), Operator: v1.TolerationOpExists}
		if w.chance(40) {
			t.Operator, t.Value = v1.TolerationOpEqual, pick(w, "x", "y")
		}
		if w.chance(30) {
			t.Effect = pick(w, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	switch {
	case w.chance(3):
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists})
	case w.chance(5):
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
	if w.chance(15) {
		p.Spec.NodeSelector = map[string]string{pick(w, "disk", "rack", v1.LabelTopologyZone): pick(w, "ssd", "1", "z1")}
	}
	if !w.chance(18) {
		return
	}
	s := &v1.NodeSelector{}
	for range 1 + w.r.IntN(2) {
		var t v1.NodeSelectorTerm
		if w.chance(85) {
			t.MatchExpressions = append(t.MatchExpressions, w.expression())
		}
		if w.chance(25) {
			t.MatchExpressions = append(t.MatchExpressions, w.expression())
		}
		if w.chance(25) {
			t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: pick(w, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn),
				Values: []string{pick(w, w.someNode().Name, w.someNode().Name, w.prefix+"nobody")}})
			if w.chance(10) {
				t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{w.someNode().Name}})
			}
		}
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, t)
	}
	w.affinity(p).NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}
}

func (w *World) expression() v1.NodeSelectorRequirement {
	switch w.r.IntN(6) {
	case 0:
		return v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd", "nvme"}}
	case 1:
		return v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpNotIn, Values: []string{"hdd"}}
	case 2:
		return v1.NodeSelectorRequirement{Key: "rack", Operator: v1.NodeSelectorOpDoesNotExist}
	case 3:
		return v1.NodeSelectorRequirement{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpExists}
	case 4:
		return v1.NodeSelectorRequirement{Key: "size", Operator: v1.NodeSelectorOpGt, Values: []string{"4"}}
	}
	return v1.NodeSelectorRequirement{Key: "size", Operator: v1.NodeSelectorOpLt, Values: []string{"5"}}
}

func (w *World) podDemands(p *v1.Pod) {
	if w.chance(15) {
		a := w.affinity(p)
		a.PodAffinity = &v1.PodAffinity{}
		for range 1 + w.r.IntN(2) {
			t := w.podTerm()
			if w.chance(30) && p.Labels["app"] != "" { // the pod itself satisfies it
				t = v1.PodAffinityTerm{TopologyKey: t.TopologyKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}
			}
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, t)
		}
	}
	if w.chance(15) {
		w.antiAffinity(p)
	}
	if !w.chance(22) {
		return
	}
	used := map[string]bool{}
	for range 1 + w.r.IntN(2) {
		t := v1.TopologySpreadConstraint{MaxSkew: 1 + w.r.Int32N(2), TopologyKey: pick(w, v1.LabelHostname, v1.LabelTopologyZone, "rack"),
			WhenUnsatisfiable: pick(w, v1.DoNotSchedule, v1.DoNotSchedule, v1.DoNotSchedule, v1.ScheduleAnyway),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(w, "a", "b", "c", "d", p.Labels["app"])}}}
		if used[t.TopologyKey] {
			continue
		}
		used[t.TopologyKey] = true
		honor, ignore := v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore
		if w.chance(40) {
			t.NodeAffinityPolicy = pick(w, &honor, &ignore)
		}
		if w.chance(40) {
			t.NodeTaintsPolicy = pick(w, &honor, &ignore)
		}
		if w.chance(30) && t.WhenUnsatisfiable == v1.DoNotSchedule {
			n := 1 + w.r.Int32N(5)
			t.MinDomains = &n
		}
		if w.chance(25) {
			t.MatchLabelKeys = []string{"version"}
		}
		if w.chance(6) {
			t.LabelSelector = nil
			t.MatchLabelKeys = nil
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, t)
	}
}

func (w *World) deviceDemands(p *v1.Pod) {
	c := &p.Spec.Containers[0]
	if w.chance(15) {
		name := w.resourceClaim(p.Namespace)
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "device", ResourceClaimName: &name})
		c.Resources.Claims = append(c.Resources.Claims, v1.ResourceClaim{Name: "device"})
	}
	if w.chance(8) {
		if c.Resources.Requests == nil {
			c.Resources.Requests = v1.ResourceList{}
		}
		if c.Resources.Limits == nil {
			c.Resources.Limits = v1.ResourceList{}
		}
		name := v1.ResourceName(pick(w, w.prefix+"example.com/dra", "deviceclass.resource.kubernetes.io/"+w.prefix+"big-gpu"))
		c.Resources.Requests[name], c.Resources.Limits[name] = resource.MustParse("1"), resource.MustParse("1")
	}
}
