package fit

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/storage/ephemeral"
)

// attachedVolumes are the volumes attached to a node: the driver by the volume.
type attachedVolumes struct {
	used     map[string]string // by pods on the node
	attached map[string]string // as VolumeAttachments tell
	err      string
}

const tooManyVolumes = "node(s) exceed max volume count"

// volumeLimits tells whether the node can attach the volumes of the pod besides
// those it has.
func (c *cycle) volumeLimits(n *nodeInfo, r *result) {
	if !c.needs(pNodeVolumeLimits, CSINodes, PersistentVolumes, StorageClasses) {
		return
	}
	csiNode := c.m.csiNodes[n.node.Name]
	wanted := map[string]string{}
	for _, v := range c.volumes.inline {
		// Of inline volumes the node's migration is taken for granted once it has a CSINode.
		if csiNode != nil {
			wanted[v.driver+"/"+v.handle] = v.driver
		}
	}
	for _, p := range c.volumes.claims {
		if p.claim == nil {
			continue
		}
		if driver, handle := c.m.csiVolume(p.claim, csiNode); driver != "" && handle != "" {
			wanted[driver+"/"+handle] = driver
		}
	}
	if len(wanted) == 0 {
		return
	}
	drivers := make([]string, 0, len(wanted))
	for _, d := range wanted {
		if !slices.Contains(drivers, d) {
			drivers = append(drivers, d)
		}
	}
	slices.Sort(drivers)
	for _, d := range drivers {
		if c.needs(pNodeVolumeLimits, CSIDrivers) && c.m.driverMissing(d, csiNode) {
			r.hit(pNodeVolumeLimits, 0, c.text(d), 1)
			if r.full {
				r.fail(Failure{Plugin: NodeVolumeLimits, Reason: d + " CSI driver is not installed on the node",
					Detail: fmt.Sprintf("CSI driver %s, which keeps pods off nodes without it, is not installed on the node", d), Volume: &VolumeRef{Driver: d}})
			}
		}
	}
	limits := map[string]int64{}
	if csiNode != nil {
		for _, d := range csiNode.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				limits[d.Name] = int64(*d.Allocatable.Count)
			}
		}
	}
	if len(limits) == 0 {
		return
	}
	c.needs(pNodeVolumeLimits, Pods, VolumeAttachments)
	has := c.m.attachedTo(n, csiNode)
	if has.err != "" {
		r.error(NodeVolumeLimits, has.err)
		return
	}
	for _, d := range drivers {
		limit, ok := limits[d]
		if !ok {
			continue
		}
		var more, inUse int64
		for v, driver := range wanted {
			if _, ok := has.used[v]; driver == d && !ok {
				more++
			}
		}
		for _, driver := range has.used {
			if driver == d {
				inUse++
			}
		}
		for v, driver := range has.attached {
			if _, ok := has.used[v]; driver == d && !ok {
				inUse++
			}
		}
		if more == 0 || inUse+more <= limit {
			continue
		}
		r.hit(pNodeVolumeLimits, 1, c.text(d), 1)
		if r.full {
			r.fail(Failure{Plugin: NodeVolumeLimits, Reason: tooManyVolumes, Preemptible: true,
				Detail: fmt.Sprintf("%s attaches at most %d volumes to the node, %d are in use and the pod needs %d more", d, limit, inUse, more),
				Volume: &VolumeRef{Driver: d, Limit: limit, InUse: inUse}})
		}
	}
}

// driverMissing tells of a driver that wants pods kept off nodes without it.
func (m *Model) driverMissing(driver string, csiNode *storagev1.CSINode) bool {
	d := m.csiDrivers[driver]
	if d == nil || d.Spec.PreventPodSchedulingIfMissing == nil || !*d.Spec.PreventPodSchedulingIfMissing {
		return false
	}
	return csiNode == nil || !slices.ContainsFunc(csiNode.Spec.Drivers, func(x storagev1.CSINodeDriver) bool { return x.Name == driver })
}

// csiVolume is the driver of a claim's volume and its name there. A claim without
// a volume counts as one that its class will make.
func (m *Model) csiVolume(claim *v1.PersistentVolumeClaim, csiNode *storagev1.CSINode) (driver, handle string) {
	if claim.Spec.VolumeName != "" {
		if v := m.volumes[claim.Spec.VolumeName]; v != nil {
			src := v.Spec.CSI
			if src == nil {
				if v.translated == nil || csiNode == nil {
					return "", ""
				}
				src = v.translated.Spec.CSI
			}
			if src == nil {
				return "", ""
			}
			return src.Driver, src.VolumeHandle
		}
	}
	class := m.classes[claimClass(claim)]
	if class == nil {
		return "", ""
	}
	handle = "to be made/" + claim.Namespace + "/" + claim.Name
	if csi.IsMigratableIntreePluginByName(class.Provisioner) {
		if !migrated[class.Provisioner] || csiNode == nil {
			return "", ""
		}
		name, err := csi.GetCSINameFromInTreeName(class.Provisioner)
		if err != nil {
			return "", ""
		}
		return name, handle
	}
	return class.Provisioner, handle
}

// attachedTo are the volumes of the pods on a node and those attached to it.
func (m *Model) attachedTo(n *nodeInfo, csiNode *storagev1.CSINode) *attachedVolumes {
	n.attachedOnce.Do(func() { n.attached = m.attachedNow(n, csiNode) })
	return &n.attached
}

func (m *Model) attachedNow(n *nodeInfo, csiNode *storagev1.CSINode) attachedVolumes {
	a := attachedVolumes{used: map[string]string{}, attached: map[string]string{}}
	for _, p := range n.pods {
		for i := range p.pod.Spec.Volumes {
			v := &p.pod.Spec.Volumes[i]
			var name string
			switch {
			case v.PersistentVolumeClaim != nil:
				name = v.PersistentVolumeClaim.ClaimName
			case v.Ephemeral != nil:
				name = ephemeral.VolumeClaimName(p.pod, v)
			default:
				if !csi.IsInlineMigratable(v) || csiNode == nil {
					continue
				}
				plugin, err := csi.GetInTreePluginNameFromSpec(nil, v)
				if err != nil || !migrated[plugin] {
					continue
				}
				pv, err := csi.TranslateInTreeInlineVolumeToCSI(logr.Discard(), v, p.pod.Namespace)
				if err != nil || pv == nil || pv.Spec.CSI == nil {
					continue
				}
				if driver, err := csi.GetCSINameFromInTreeName(plugin); err == nil {
					a.used[driver+"/"+pv.Spec.CSI.VolumeHandle] = driver
				}
				continue
			}
			claim := m.claims[p.pod.Namespace+"/"+name]
			if claim == nil {
				continue
			}
			if v.Ephemeral != nil {
				if err := ephemeral.VolumeIsForPod(p.pod, claim); err != nil {
					a.err = err.Error()
				}
			}
			if driver, handle := m.csiVolume(claim, csiNode); driver != "" && handle != "" {
				a.used[driver+"/"+handle] = driver
			}
		}
	}
	for _, va := range m.attachments[n.node.Name] {
		if va.Spec.Attacher == "" || va.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if v := m.volumes[*va.Spec.Source.PersistentVolumeName]; v != nil && v.Spec.CSI != nil {
			a.attached[va.Spec.Attacher+"/"+v.Spec.CSI.VolumeHandle] = va.Spec.Attacher
		}
	}
	return a
}
