package fit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ill tells of taints by which a node says that it lacks something.
func ill(key string) bool {
	return key == v1.TaintNodeMemoryPressure || key == v1.TaintNodeDiskPressure || key == v1.TaintNodePIDPressure
}

// mendings are what is to be done about nodes that say that they are not in order.
var mendings = map[string]string{
	v1.TaintNodeNotReady:                             "get node %s ready again",
	v1.TaintNodeUnreachable:                          "get the kubelet of node %s to be heard of again",
	v1.TaintNodeNetworkUnavailable:                   "get the network of node %s going",
	v1.TaintNodeOutOfService:                         "bring node %s back into service",
	"node.cloudprovider.kubernetes.io/uninitialized": "get the cloud controller manager to initialize node %s",
	"node.cloudprovider.kubernetes.io/shutdown":      "start the machine of node %s",
	v1.TaintNodeMemoryPressure:                       "relieve node %s of its memory pressure",
	v1.TaintNodeDiskPressure:                         "relieve node %s of its disk pressure",
	v1.TaintNodePIDPressure:                          "relieve node %s of its pressure of processes",
}

// mend gets a node in order, upon which the taint goes by itself. A node that is
// out of order often has several taints of it.
func mend(node string, t *Taint) edit {
	return edit{Edit: Edit{Kind: MendNode, Object: Ref{Kind: Nodes, Name: node}, Taint: t}, cost: 3, harm: NoHarm,
		text: fmt.Sprintf(mendings[t.Key], node), waits: fmt.Sprintf("taint %s goes by itself", t),
		do: onNode(node, func(n *v1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(x v1.Taint) bool { return x.Key == t.Key })
		})}
}

// dropPort takes the host port off the pod. On the host's network it has it anyway.
func dropPort(pod *v1.Pod, f *Port) []edit {
	if pod.Spec.HostNetwork {
		return nil
	}
	same := func(p *v1.ContainerPort) bool {
		return p.HostPort == f.Port && cmp.Or(string(p.Protocol), string(v1.ProtocolTCP)) == f.Protocol
	}
	e := Edit{Kind: DropPort, Object: podRef(pod), Port: &Port{HostIP: f.HostIP, Protocol: f.Protocol, Port: f.Port}}
	for _, c := range all(pod) {
		if slices.ContainsFunc(c.Ports, func(p v1.ContainerPort) bool { return same(&p) }) {
			e.Container = c.Name
			break
		}
	}
	return []edit{{Edit: e, cost: 4, harm: PodOnly,
		text: fmt.Sprintf("take host port %d/%s off the pod, and reach it by a Service", f.Port, f.Protocol),
		do: onPod(func(p *v1.Pod) {
			for _, c := range all(p) {
				for i := range c.Ports {
					if same(&c.Ports[i]) {
						c.Ports[i].HostPort = 0
					}
				}
			}
		})}}
}

// installDriver gets a CSI driver onto a node that has none.
func installDriver(node, driver string) edit {
	return edit{Edit: Edit{Kind: InstallDriver, Object: Ref{Kind: Nodes, Name: node}, Volume: &VolumeRef{Driver: driver}}, cost: 4, harm: Others,
		text: fmt.Sprintf("install CSI driver %s on node %s", driver, node),
		do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
			x := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
			if old := m.csiNodes[node]; old != nil {
				x = old.DeepCopy()
			}
			x.Spec.Drivers = append(x.Spec.Drivers, storagev1.CSINodeDriver{Name: driver, NodeID: node})
			m = m.clone()
			m.csiNodes = maps.Clone(m.csiNodes)
			m.csiNodes[node] = x
			return m, p
		}}
}

// upgrade gets a kubelet onto a node that declares what the pod needs.
func (v variant) upgrade(node string) []edit {
	i, ok := v.model.byName[node]
	if !ok {
		return nil
	}
	missing := missingFeatures(v.model.cycle(v.pod).features, v.model.nodes[i].node)
	if len(missing) == 0 {
		return nil
	}
	return []edit{{Edit: Edit{Kind: UpgradeNode, Object: Ref{Kind: Nodes, Name: node}, Shape: &Shape{Features: missing}}, cost: 6.5, harm: Disrupts,
		text: fmt.Sprintf("give node %s a kubelet that declares %s", node, strings.Join(missing, ", ")),
		do: onNode(node, func(n *v1.Node) {
			n.Status.DeclaredFeatures = append(n.Status.DeclaredFeatures, missing...)
			slices.Sort(n.Status.DeclaredFeatures)
		})}}
}

// detachOptions makes the driver have room on the node again: by volumes that are
// attached and that no pod there uses, or by moving the fewest pods that use some.
func (v variant) detachOptions(node string, ref *VolumeRef) []edit {
	i, ok := v.model.byName[node]
	if !ok {
		return nil
	}
	var out []edit
	enough := func(m *Model) bool {
		var r result
		m.cycle(v.pod).volumeLimits(m.nodes[i], &r)
		return !slices.ContainsFunc(r.hits, func(h hit) bool { return h.reason == 1 })
	}
	n := v.model.nodes[i]
	csiNode := v.model.csiNodes[node]
	has := v.model.attachedTo(n, csiNode)
	var unused []Ref
	drop := map[*storagev1.VolumeAttachment]bool{}
	for _, va := range v.model.attachments[node] {
		if va.Spec.Attacher != ref.Driver || va.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		x := v.model.volumes[*va.Spec.Source.PersistentVolumeName]
		if x == nil || x.Spec.CSI == nil {
			continue
		}
		if _, used := has.used[va.Spec.Attacher+"/"+x.Spec.CSI.VolumeHandle]; !used {
			drop[va] = true
			unused = append(unused, Ref{Kind: VolumeAttachments, Name: va.Name})
			detach := func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
				m = m.withNode(m.nodes[i].node)
				m.attachments = maps.Clone(m.attachments)
				m.attachments[node] = slices.DeleteFunc(slices.Clone(m.attachments[node]), func(o *storagev1.VolumeAttachment) bool { return drop[o] })
				return m, p
			}
			if m, _ := detach(v.model, v.pod); enough(m) {
				gone := maps.Clone(drop)
				drop = gone
				out = append(out, edit{Edit: Edit{Kind: Detach, Object: Ref{Kind: Nodes, Name: node}, Attachments: unused, Volume: &VolumeRef{Driver: ref.Driver}}, cost: 5, harm: Others,
					text: fmt.Sprintf("detach %s of %s from node %s that no pod there uses", count(len(unused), "volume"), ref.Driver, node), do: detach})
				break
			}
		}
	}
	var pods []*podInfo
	candidates := slices.Clone(n.pods)
	slices.SortStableFunc(candidates, func(a, b *podInfo) int { return cmp.Compare(a.priority, b.priority) })
	for _, p := range candidates {
		uses := slices.ContainsFunc(p.pod.Spec.Volumes, func(x v1.Volume) bool {
			return x.PersistentVolumeClaim != nil || x.Ephemeral != nil || csi.IsInlineMigratable(&x)
		})
		if !uses || comesBack(p.pod) || p.priority >= systemCritical {
			continue
		}
		pods = append(pods, p)
		gone := map[*podInfo]bool{}
		for _, x := range pods {
			gone[x] = true
		}
		if !enough(v.model.without(gone)) {
			continue
		}
		// Of those, the ones that make no difference may stay.
		for _, x := range pods {
			delete(gone, x)
			if !enough(v.model.without(gone)) {
				gone[x] = true
			}
		}
		pods = slices.DeleteFunc(pods, func(x *podInfo) bool { return !gone[x] })
		return append(out, v.stopPods(FreeVolume, pods, fmt.Sprintf("detach volumes of %s from node %s", ref.Driver, node))...)
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "a " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
