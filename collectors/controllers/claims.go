package controllers

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/ktriage/ktriage/collectors/objects"
)

// The annotations of a claim that tell how far it has got: the scheduler has
// chosen a node, the controller has asked a provisioner for a volume.
const (
	selectedNode      = "volume.kubernetes.io/selected-node"
	provisioner       = "volume.kubernetes.io/storage-provisioner"
	provisionerBefore = "volume.beta.kubernetes.io/storage-provisioner" // to 1.22 the only one
	noProvisioner     = "kubernetes.io/no-provisioner"
	claimPatience     = 5 * time.Minute // RULES pvc-pending
)

// Claims are the PersistentVolumeClaims that wait for a volume.
var Claims = newLoop("volume-claims", "the PersistentVolumeClaims that wait for a volume, by whom they wait for", "PersistentVolumeClaim", "claims",
	func() looker { return &claims{classes: map[string]storagev1.StorageClass{}} },
	list("/api/v1/persistentvolumeclaims"), list("/apis/storage.k8s.io/v1/storageclasses"))

type claims struct {
	pending []*corev1.PersistentVolumeClaim // at most maxPending
	classes map[string]storagev1.StorageClass
}

const maxPending = 1000

func (c *claims) look(l *Loop, _ int, o objects.Object, _ time.Time) {
	switch o := o.(type) {
	case *storagev1.StorageClass:
		c.classes[strings.Clone(o.Name)] = storagev1.StorageClass{Provisioner: strings.Clone(o.Provisioner), VolumeBindingMode: o.VolumeBindingMode}
	case *corev1.PersistentVolumeClaim:
		l.Objects++
		if o.Status.Phase == corev1.ClaimPending && o.DeletionTimestamp == nil && len(c.pending) < maxPending {
			c.pending = append(c.pending, o.DeepCopy())
		}
	}
}

func (c *claims) close(l *Loop, now time.Time) {
	for _, o := range c.pending {
		class := ""
		if o.Spec.StorageClassName != nil {
			class = *o.Spec.StorageClassName
		}
		sc, known := c.classes[class]
		late := sc.VolumeBindingMode != nil && *sc.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
		asked := cmp.Or(o.Annotations[provisioner], o.Annotations[provisionerBefore])
		age := now.Sub(o.CreationTimestamp.Time)
		switch {
		case late && o.Annotations[selectedNode] == "" && o.Spec.VolumeName == "":
			// it waits for a pod that uses it
		case known && sc.Provisioner != noProvisioner && asked == "" && o.Spec.VolumeName == "":
			// Whom to ask is the controller's to write, at once.
			l.behind(o, now, laterOf(changed(o, true), o.CreationTimestamp.Time))
		case age <= claimPatience:
		case asked != "" && asked != noProvisioner:
			l.hold(o, "no volume from the provisioner "+asked+" yet", age)
		case class != "" && !known:
			l.hold(o, "the StorageClass "+class+" does not exist", age)
		default:
			l.hold(o, "no PersistentVolume that fits", age)
		}
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
