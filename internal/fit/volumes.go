package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/ephemeral"
	csitranslation "k8s.io/csi-translation-lib"
)

// Annotations by which the controllers of volumes and the scheduler speak.
const (
	annSelectedNode  = "volume.kubernetes.io/selected-node"
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	noProvisioner    = "kubernetes.io/no-provisioner"
)

// migrated are the in-tree plugins that have gone over to CSI.
var migrated = map[string]bool{"kubernetes.io/aws-ebs": true, "kubernetes.io/gce-pd": true, "kubernetes.io/azure-disk": true,
	"kubernetes.io/cinder": true, "kubernetes.io/portworx-volume": true}

var csi = csitranslation.New()

// podVolumes are the volumes of the pod that the scheduler cares for.
type podVolumes struct {
	claims []*podClaim // in the order of the pod
	bound  []*podClaim
	// delayed are bound once the pod has a node, smallest first.
	delayed []*podClaim
	// disks are volumes of kinds of which a node has one only.
	disks []*v1.Volume
	// inline are volumes of the pod itself that go over to CSI.
	inline []inlineVolume
	// once are the claims that one pod only may use.
	once []*podClaim
	// zones are demands of volumes on the labels of nodes.
	zones []zone
}

type inlineVolume struct {
	volume         *v1.Volume
	driver, handle string
	plugin         string
}

type podClaim struct {
	volume    string // its name in the pod
	name      string
	ephemeral bool
	claim     *v1.PersistentVolumeClaim
	class     string
	size      int64
	sized     bool
}

type zone struct {
	volume string
	key    string
	values []string
}

func (p *podClaim) ref(pv string) *VolumeRef {
	return &VolumeRef{Name: p.volume, Claim: p.name, Class: p.class, Volume: pv, Requested: p.size}
}

// claimClass is the storage class of a claim, empty where it has none.
func claimClass(c *v1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[v1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

func volumeClass(v *v1.PersistentVolume) string {
	if class, ok := v.Annotations[v1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return v.Spec.StorageClassName
}

func (m *Model) indexVolumes(pvs []*v1.PersistentVolume) {
	m.volumes, m.byClass = make(map[string]*volume, len(pvs)), map[string][]*volume{}
	for _, pv := range pvs {
		v := newVolume(pv)
		m.volumes[pv.Name] = v
		class := volumeClass(pv)
		m.byClass[class] = append(m.byClass[class], v)
	}
}

func newVolume(pv *v1.PersistentVolume) *volume {
	v := &volume{PersistentVolume: pv}
	if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
		v.affinity = nodeaffinity.NewLazyErrorNodeSelector(a.Required)
	}
	if csi.IsPVMigratable(pv) {
		if name, err := csi.GetInTreePluginNameFromSpec(pv, nil); err == nil && migrated[name] {
			v.plugin = name
			if t, err := csi.TranslateInTreePVToCSI(logr.Discard(), pv); err == nil {
				v.translated = newVolume(t)
			} else {
				v.broken = fmt.Sprintf("could not translate pv: %v", err)
			}
		}
	}
	return v
}

// reaches tells whether the volume can be used on a node.
func (v *volume) reaches(n *nodeInfo) bool {
	if v.affinity == nil {
		return true
	}
	ok, err := v.affinity.Match(n.bare)
	return ok && err == nil
}

// on is the volume as the node sees it: by its CSI driver where the node has
// migrated the plugin. Where that cannot be told the scheduler meets an error.
func (v *volume) on(csiNode *storagev1.CSINode) (*volume, string) {
	if v.plugin == "" || csiNode == nil || !slices.Contains(strings.Split(csiNode.Annotations[v1.MigratedPluginsAnnotationKey], ","), v.plugin) {
		return v, ""
	}
	if v.translated == nil {
		return v, v.broken
	}
	return v.translated, ""
}

func newCapacity(x *storagev1.CSIStorageCapacity) *capacity {
	c := &capacity{CSIStorageCapacity: x}
	if x.NodeTopology != nil {
		if s, err := metav1.LabelSelectorAsSelector(x.NodeTopology); err == nil {
			c.topology = s
		}
	}
	return c
}

// most is the largest volume that the capacity admits.
func (c *capacity) most() (int64, bool) {
	q := c.MaximumVolumeSize
	if q == nil {
		q = c.Capacity
	}
	if q == nil {
		return 0, false
	}
	return q.Value(), true
}

// podVolumes looks up the volumes of the pod, and notes what is wrong with them
// whatever the node.
func (c *cycle) podVolumes() {
	var uses bool
	for i := range c.pod.Spec.Volumes {
		v := &c.pod.Spec.Volumes[i]
		if v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil {
			c.volumes.disks = append(c.volumes.disks, v)
		}
		switch {
		case v.PersistentVolumeClaim != nil:
			uses = true
			c.volumes.claims = append(c.volumes.claims, &podClaim{volume: v.Name, name: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			uses = true
			c.volumes.claims = append(c.volumes.claims, &podClaim{volume: v.Name, name: ephemeral.VolumeClaimName(c.pod, v), ephemeral: true})
		case csi.IsInlineMigratable(v):
			c.inlineVolume(v)
		}
	}
	if len(c.volumes.disks) > 0 && !c.off[pVolumeRestrictions] {
		c.needs(pVolumeRestrictions, Pods)
	}
	if !uses {
		c.off[pVolumeBinding], c.off[pVolumeZone] = true, true
		if len(c.volumes.disks) == 0 {
			c.off[pVolumeRestrictions] = true
		}
		if len(c.volumes.inline) == 0 {
			c.off[pNodeVolumeLimits] = true
		}
		return
	}
	if !c.needs(pVolumeBinding, PersistentVolumeClaims) {
		// Nothing of the claims is known; what the pod has besides them is judged.
		c.volumes.claims = nil
		c.off[pVolumeBinding], c.off[pVolumeZone], c.off[pNodeVolumeLimits] = true, true, true
		return
	}
	c.lookUpClaims()
	c.sortClaims()
	c.volumeZones()
}

func (c *cycle) inlineVolume(v *v1.Volume) {
	plugin, err := csi.GetInTreePluginNameFromSpec(nil, v)
	if err != nil || !migrated[plugin] {
		return
	}
	pv, err := csi.TranslateInTreeInlineVolumeToCSI(logr.Discard(), v, c.pod.Namespace)
	if err != nil || pv == nil || pv.Spec.CSI == nil {
		return
	}
	driver, err := csi.GetCSINameFromInTreeName(plugin)
	if err != nil {
		return
	}
	c.volumes.inline = append(c.volumes.inline, inlineVolume{v, driver, pv.Spec.CSI.VolumeHandle, plugin})
}

// lookUpClaims finds the claims, and blocks the pod for each that is not usable.
func (c *cycle) lookUpClaims() {
	for _, p := range c.volumes.claims {
		claim := c.m.claims[c.pod.Namespace+"/"+p.name]
		if claim == nil {
			if p.ephemeral {
				continue
			}
			f := Failure{Reason: fmt.Sprintf("persistentvolumeclaim %q not found", p.name),
				Detail: fmt.Sprintf("claim %s of volume %s does not exist", p.name, p.volume), Volume: p.ref("")}
			plugin := pVolumeRestrictions
			if c.off[plugin] {
				plugin = pVolumeBinding
			}
			c.block(plugin, f)
			continue
		}
		p.claim, p.class = claim, claimClass(claim)
		if q, ok := claim.Spec.Resources.Requests[v1.ResourceStorage]; ok {
			p.size, p.sized = q.Value(), true
		}
		if slices.Contains(claim.Spec.AccessModes, v1.ReadWriteOncePod) && !p.ephemeral {
			c.volumes.once = append(c.volumes.once, p)
		}
	}
	if len(c.volumes.once) > 0 && !c.off[pVolumeRestrictions] {
		c.needs(pVolumeRestrictions, Pods)
	}
}

// sortClaims finds which claims are bound, which are bound with the pod, and which
// should have been bound before.
func (c *cycle) sortClaims() {
	if c.off[pVolumeBinding] {
		return
	}
	bad := false
	for _, p := range c.volumes.claims {
		switch {
		case p.claim == nil:
			bad = true
			if p.ephemeral {
				c.block(pVolumeBinding, Failure{Reason: fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", p.name),
					Detail: fmt.Sprintf("claim %s of the ephemeral volume %s has not been created yet", p.name, p.volume), Volume: p.ref("")})
			}
		case p.claim.Status.Phase == v1.ClaimLost:
			bad = true
			c.block(pVolumeBinding, Failure{Reason: fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", p.name, p.claim.Spec.VolumeName),
				Detail: fmt.Sprintf("claim %s has lost its volume %s", p.name, p.claim.Spec.VolumeName), Volume: p.ref(p.claim.Spec.VolumeName)})
		case p.claim.DeletionTimestamp != nil:
			bad = true
			c.block(pVolumeBinding, Failure{Reason: fmt.Sprintf("persistentvolumeclaim %q is being deleted", p.name),
				Detail: fmt.Sprintf("claim %s is being deleted", p.name), Volume: p.ref(p.claim.Spec.VolumeName)})
		case p.ephemeral:
			if err := ephemeral.VolumeIsForPod(c.pod, p.claim); err != nil {
				bad = true
				c.block(pVolumeBinding, Failure{Reason: err.Error(),
					Detail: fmt.Sprintf("claim %s stands where that of the ephemeral volume %s belongs and is not the pod's", p.name, p.volume), Volume: p.ref("")})
			}
		}
	}
	if !c.needs(pVolumeBinding, PersistentVolumes, StorageClasses) {
		c.off[pVolumeBinding], c.off[pVolumeZone] = true, true
		return
	}
	var waiting []*podClaim
	for _, p := range c.volumes.claims {
		if p.claim == nil {
			continue
		}
		_, completed := p.claim.Annotations[annBindCompleted]
		if p.claim.Spec.VolumeName != "" && completed {
			c.volumes.bound = append(c.volumes.bound, p)
			continue
		}
		class := c.m.classes[p.class]
		if class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer && p.claim.Spec.VolumeName == "" {
			c.volumes.delayed = append(c.volumes.delayed, p)
		} else {
			waiting = append(waiting, p)
		}
	}
	slices.SortStableFunc(c.volumes.delayed, func(a, b *podClaim) int { return cmp.Compare(a.size, b.size) })
	if !bad {
		for _, p := range waiting {
			c.block(pVolumeBinding, Failure{Reason: "pod has unbound immediate PersistentVolumeClaims",
				Detail: fmt.Sprintf("claim %s is not bound: %s", p.name, c.whyUnbound(p)), Volume: p.ref(p.claim.Spec.VolumeName)})
		}
	}
}

// whyUnbound says why a claim that is bound before the pod is scheduled is not.
func (c *cycle) whyUnbound(p *podClaim) string {
	class := c.m.classes[p.class]
	switch {
	case p.claim.Spec.VolumeName != "" && c.m.volumes[p.claim.Spec.VolumeName] == nil:
		return fmt.Sprintf("it names volume %s, which does not exist", p.claim.Spec.VolumeName)
	case p.claim.Spec.VolumeName != "":
		return fmt.Sprintf("it names volume %s, and the controller has not bound them", p.claim.Spec.VolumeName)
	case p.class == "":
		return "it has no storage class and no volume is free for it"
	case class == nil:
		return fmt.Sprintf("its storage class %s does not exist", p.class)
	case class.Provisioner == noProvisioner:
		return fmt.Sprintf("its storage class %s provisions nothing and no volume is free for it", p.class)
	}
	return fmt.Sprintf("provisioner %s of storage class %s has not made a volume", class.Provisioner, p.class)
}

// volumeRestrictions finds disks and claims that are in use.
func (c *cycle) volumeRestrictions(n *nodeInfo, r *result) {
	for i, v := range c.volumes.disks {
		var owners []Ref
		for _, p := range n.pods {
			if diskConflict(v, p.pod) {
				owners = append(owners, podRef(p.pod))
			}
		}
		if len(owners) == 0 {
			continue
		}
		r.hit(pVolumeRestrictions, 0, i, 1)
		if r.full {
			r.fail(Failure{Plugin: VolumeRestrictions, Reason: "node(s) had no available disk", Preemptible: true,
				Detail: fmt.Sprintf("the disk of volume %s is in use on the node by %s", v.Name, names(owners)), Volume: &VolumeRef{Name: v.Name, Owners: owners}})
		}
	}
	for i, p := range c.volumes.once {
		users := c.m.claimUse[c.pod.Namespace+"/"+p.name]
		if len(users) == 0 {
			continue
		}
		r.hit(pVolumeRestrictions, 1, i, 1)
		if r.full {
			ref := p.ref(p.claim.Spec.VolumeName)
			for _, u := range users {
				ref.Owners = append(ref.Owners, podRef(u.pod.pod))
			}
			r.fail(Failure{Plugin: VolumeRestrictions, Preemptible: true, Volume: ref,
				Reason: "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
				Detail: fmt.Sprintf("claim %s is ReadWriteOncePod and in use by %s", p.name, names(ref.Owners))})
		}
	}
}

// diskConflict tells whether a pod uses a disk in a way that keeps others off it.
func diskConflict(v *v1.Volume, pod *v1.Pod) bool {
	for i := range pod.Spec.Volumes {
		o := &pod.Spec.Volumes[i]
		if a, b := v.GCEPersistentDisk, o.GCEPersistentDisk; a != nil && b != nil && a.PDName == b.PDName && !(a.ReadOnly && b.ReadOnly) {
			return true
		}
		if a, b := v.AWSElasticBlockStore, o.AWSElasticBlockStore; a != nil && b != nil && a.VolumeID == b.VolumeID {
			return true
		}
		if a, b := v.ISCSI, o.ISCSI; a != nil && b != nil && a.IQN == b.IQN && !(a.ReadOnly && b.ReadOnly) {
			return true
		}
		if a, b := v.RBD, o.RBD; a != nil && b != nil && a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage && !(a.ReadOnly && b.ReadOnly) &&
			slices.ContainsFunc(a.CephMonitors, func(s string) bool { return slices.Contains(b.CephMonitors, s) }) {
			return true
		}
	}
	return false
}

// volumeZones finds the labels of zones and regions that bound volumes carry.
func (c *cycle) volumeZones() {
	if c.off[pVolumeZone] {
		return
	}
	for _, p := range c.volumes.claims {
		if p.claim == nil || p.ephemeral || p.claim.Spec.VolumeName == "" {
			continue
		}
		v := c.m.volumes[p.claim.Spec.VolumeName]
		if v == nil {
			c.block(pVolumeZone, Failure{Reason: fmt.Sprintf("persistentvolume %q not found", p.claim.Spec.VolumeName),
				Detail: fmt.Sprintf("volume %s of claim %s does not exist", p.claim.Spec.VolumeName, p.name), Volume: p.ref(p.claim.Spec.VolumeName)})
			continue
		}
		for _, key := range zoneLabels {
			if value, ok := v.Labels[key]; ok {
				if values := zoneValues(value); values != nil {
					c.volumes.zones = append(c.volumes.zones, zone{v.Name, key, values})
				}
			}
		}
	}
	if len(c.volumes.zones) == 0 {
		c.off[pVolumeZone] = true
	}
}

var zoneLabels = []string{v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion, v1.LabelTopologyZone, v1.LabelTopologyRegion}

// zoneValues splits the label of a volume that is in several zones. A malformed
// one counts for nothing.
func zoneValues(s string) []string {
	var values []string
	for part := range strings.SplitSeq(s, "__") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil
		}
		values = append(values, part)
	}
	return values
}

func (c *cycle) volumeZone(n *nodeInfo, r *result) {
	zoned := slices.ContainsFunc(zoneLabels, func(key string) bool { _, ok := n.labels[key]; return ok })
	if !zoned {
		return
	}
	for i, z := range c.volumes.zones {
		got, ok := n.labels[z.key]
		if !ok {
			switch z.key {
			case v1.LabelFailureDomainBetaZone:
				got, ok = n.labels[v1.LabelTopologyZone]
			case v1.LabelFailureDomainBetaRegion:
				got, ok = n.labels[v1.LabelTopologyRegion]
			}
		}
		if ok && slices.Contains(z.values, got) {
			continue
		}
		r.hit(pVolumeZone, 0, i, 2)
		if r.full {
			r.fail(Failure{Plugin: VolumeZone, Reason: "node(s) had no available volume zone",
				Detail: fmt.Sprintf("volume %s is in %s=%s, the node is in %q", z.volume, z.key, strings.Join(z.values, " or "), got),
				Volume: &VolumeRef{Volume: z.volume}, Term: &Term{Of: "volumeZone", Index: i, Expression: z.key + "=" + strings.Join(z.values, ","), TopologyKey: z.key, TopologyValue: got}})
		}
	}
}

func selectorOf(s *metav1.LabelSelector) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(s)
}
