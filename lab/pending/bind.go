package pending

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Bind does the work of the controller of volumes and of provisioners for the
// claims of a pod for which the scheduler has chosen a volume or a node. before tells
// whether claims count for which a node had been chosen before.
func Bind(ctx context.Context, client kubernetes.Interface, pod *v1.Pod, before bool) error {
	core := client.CoreV1()
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := core.PersistentVolumeClaims(pod.Namespace).Get(ctx, v.PersistentVolumeClaim.ClaimName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && claim.Spec.VolumeName != "" {
			continue
		} else if err != nil {
			return err
		}
		volumes, err := core.PersistentVolumes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var chosen *v1.PersistentVolume
		for i := range volumes.Items {
			if r := volumes.Items[i].Spec.ClaimRef; r != nil && r.UID == claim.UID {
				chosen = &volumes.Items[i]
			}
		}
		node := claim.Annotations["volume.kubernetes.io/selected-node"]
		if chosen == nil && node != "" && (before || claim.Annotations[chosenBefore] == "") {
			chosen, err = core.PersistentVolumes().Create(ctx, &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "made-" + string(claim.UID)}, Spec: v1.PersistentVolumeSpec{
				Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, StorageClassName: *claim.Spec.StorageClassName, VolumeMode: claim.Spec.VolumeMode,
				ClaimRef:               &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
				PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/x"}}}}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("make a volume: %w", err)
			}
		}
		if chosen == nil {
			continue
		}
		chosen.Status.Phase = v1.VolumeBound
		if _, err := core.PersistentVolumes().UpdateStatus(ctx, chosen, metav1.UpdateOptions{}); err != nil {
			return err
		}
		claim.Spec.VolumeName = chosen.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
		if claim, err = core.PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
			return err
		}
		claim.Status.Phase = v1.ClaimBound
		if _, err := core.PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
