package pending

import (
	"context"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/internal/fit"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// An api is the part of a typed client that all kinds have.
type api[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

type statusAPI[T any] interface {
	api[T]
	UpdateStatus(context.Context, T, metav1.UpdateOptions) (T, error)
}

// ensure creates an object that is not there, and one that is there as it was
// before it makes as it is now. The API server's copy of old is what changes.
func ensure[T interface {
	comparable
	metav1.Object
}](ctx context.Context, c api[T], o T) (T, error) {
	var made T
	var err error
	if o.GetResourceVersion() == "" {
		made, err = c.Create(ctx, o, metav1.CreateOptions{})
	} else {
		made, err = c.Update(ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		err = fmt.Errorf("write %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	return made, err
}

// Write makes the API server's cluster as the world is. It gives objects UIDs of
// its own, and tells those of claims to the volumes that are bound to them.
func Write(ctx context.Context, client kubernetes.Interface, c *fit.Cluster) error {
	core, storage, res := client.CoreV1(), client.StorageV1(), client.ResourceV1()
	for _, o := range c.Namespaces {
		if _, err := ensure[*v1.Namespace](ctx, core.Namespaces(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.PriorityClasses {
		if _, err := client.SchedulingV1().PriorityClasses().Create(ctx, o.DeepCopy(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	for _, o := range c.Nodes {
		if err := writeStatus[*v1.Node](ctx, core.Nodes(), o.DeepCopy(), func(made *v1.Node) { made.Status = o.Status }); err != nil {
			return err
		}
	}
	for _, o := range c.CSIDrivers {
		if _, err := ensure[*storagev1.CSIDriver](ctx, storage.CSIDrivers(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.StorageClasses {
		if _, err := ensure[*storagev1.StorageClass](ctx, storage.StorageClasses(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.CSINodes {
		if _, err := ensure[*storagev1.CSINode](ctx, storage.CSINodes(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.CSIStorageCapacities {
		if _, err := ensure[*storagev1.CSIStorageCapacity](ctx, storage.CSIStorageCapacities(o.Namespace), o.DeepCopy()); err != nil {
			return err
		}
	}
	uids := map[string]*v1.PersistentVolumeClaim{}
	for _, o := range c.PersistentVolumeClaims {
		x := o.DeepCopy()
		made, err := ensure[*v1.PersistentVolumeClaim](ctx, core.PersistentVolumeClaims(o.Namespace), x)
		if err != nil {
			return err
		}
		made.Status.Phase = o.Status.Phase
		if made, err = core.PersistentVolumeClaims(o.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
		uids[o.Namespace+"/"+o.Name] = made
	}
	for _, o := range c.PersistentVolumes {
		x := o.DeepCopy()
		if r := x.Spec.ClaimRef; r != nil && r.UID != "" && r.UID != "gone" {
			if claim := uids[r.Namespace+"/"+r.Name]; claim != nil {
				r.UID = claim.UID
			}
		}
		if err := writeStatus[*v1.PersistentVolume](ctx, core.PersistentVolumes(), x, func(made *v1.PersistentVolume) { made.Status.Phase = o.Status.Phase }); err != nil {
			return err
		}
	}
	for _, o := range c.DeviceClasses {
		if _, err := ensure[*resourcev1.DeviceClass](ctx, res.DeviceClasses(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.ResourceSlices {
		if _, err := ensure[*resourcev1.ResourceSlice](ctx, res.ResourceSlices(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.ResourceClaims {
		if err := writeStatus[*resourcev1.ResourceClaim](ctx, res.ResourceClaims(o.Namespace), o.DeepCopy(), func(made *resourcev1.ResourceClaim) { made.Status = o.Status }); err != nil {
			return err
		}
	}
	for _, o := range c.PodDisruptionBudgets {
		if err := writeStatus[*policyv1.PodDisruptionBudget](ctx, client.PolicyV1().PodDisruptionBudgets(o.Namespace), o.DeepCopy(), func(made *policyv1.PodDisruptionBudget) { made.Status = o.Status }); err != nil {
			return err
		}
	}
	for _, o := range c.VolumeAttachments {
		if _, err := ensure[*storagev1.VolumeAttachment](ctx, storage.VolumeAttachments(), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.Services {
		if _, err := ensure[*v1.Service](ctx, core.Services(o.Namespace), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.ReplicaSets {
		if _, err := ensure[*appsv1.ReplicaSet](ctx, client.AppsV1().ReplicaSets(o.Namespace), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.StatefulSets {
		if _, err := ensure[*appsv1.StatefulSet](ctx, client.AppsV1().StatefulSets(o.Namespace), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.ReplicationControllers {
		if _, err := ensure[*v1.ReplicationController](ctx, core.ReplicationControllers(o.Namespace), o.DeepCopy()); err != nil {
			return err
		}
	}
	for _, o := range c.Pods {
		x := o.DeepCopy()
		now := int64(0)
		x.Spec.TerminationGracePeriodSeconds = &now
		if err := writeStatus[*v1.Pod](ctx, core.Pods(o.Namespace), x, func(made *v1.Pod) { made.Status = o.Status }); err != nil {
			return err
		}
	}
	return nil
}

func writeStatus[T interface {
	comparable
	metav1.Object
}](ctx context.Context, c statusAPI[T], o T, set func(T)) error {
	made, err := ensure[T](ctx, c, o)
	if err != nil {
		return err
	}
	set(made)
	if _, err = c.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	return nil
}

func pointers[T any](in []T) []*T {
	out := make([]*T, len(in))
	for i := range in {
		out[i] = &in[i]
	}
	return out
}

// Read is what the API server has.
func Read(ctx context.Context, client kubernetes.Interface) (fit.Cluster, error) {
	var c fit.Cluster
	var failed error
	note := func(err error) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	all := metav1.ListOptions{}
	core, storage, res := client.CoreV1(), client.StorageV1(), client.ResourceV1()
	if l, err := core.Nodes().List(ctx, all); err == nil {
		c.Nodes = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.Pods("").List(ctx, all); err == nil {
		c.Pods = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.Namespaces().List(ctx, all); err == nil {
		c.Namespaces = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.PersistentVolumeClaims("").List(ctx, all); err == nil {
		c.PersistentVolumeClaims = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.PersistentVolumes().List(ctx, all); err == nil {
		c.PersistentVolumes = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := storage.StorageClasses().List(ctx, all); err == nil {
		c.StorageClasses = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := storage.CSINodes().List(ctx, all); err == nil {
		c.CSINodes = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := storage.CSIDrivers().List(ctx, all); err == nil {
		c.CSIDrivers = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := storage.CSIStorageCapacities("").List(ctx, all); err == nil {
		c.CSIStorageCapacities = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := storage.VolumeAttachments().List(ctx, all); err == nil {
		c.VolumeAttachments = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := res.ResourceClaims("").List(ctx, all); err == nil {
		c.ResourceClaims = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := res.ResourceSlices().List(ctx, all); err == nil {
		c.ResourceSlices = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := res.DeviceClasses().List(ctx, all); err == nil {
		c.DeviceClasses = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := client.PolicyV1().PodDisruptionBudgets("").List(ctx, all); err == nil {
		c.PodDisruptionBudgets = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.Services("").List(ctx, all); err == nil {
		c.Services = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := client.AppsV1().ReplicaSets("").List(ctx, all); err == nil {
		c.ReplicaSets = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := client.AppsV1().StatefulSets("").List(ctx, all); err == nil {
		c.StatefulSets = pointers(l.Items)
	} else {
		note(err)
	}
	if l, err := core.ReplicationControllers("").List(ctx, all); err == nil {
		c.ReplicationControllers = pointers(l.Items)
	} else {
		note(err)
	}
	var classes *schedulingv1.PriorityClassList
	classes, err := client.SchedulingV1().PriorityClasses().List(ctx, all)
	note(err)
	if err == nil {
		c.PriorityClasses = pointers(classes.Items)
	}
	return c, failed
}

// Clear removes everything of a world.
func Clear(ctx context.Context, client kubernetes.Interface) error {
	c, err := Read(ctx, client)
	if err != nil {
		return err
	}
	now := int64(0)
	gone := metav1.DeleteOptions{GracePeriodSeconds: &now}
	var failed error
	del := func(err error) {
		if err != nil && !apierrors.IsNotFound(err) && failed == nil {
			failed = err
		}
	}
	for _, o := range c.Pods {
		del(client.CoreV1().Pods(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.PersistentVolumeClaims {
		del(client.CoreV1().PersistentVolumeClaims(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.VolumeAttachments {
		del(client.StorageV1().VolumeAttachments().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.Services {
		if o.Namespace != metav1.NamespaceDefault { // that of the API server
			del(client.CoreV1().Services(o.Namespace).Delete(ctx, o.Name, gone))
		}
	}
	for _, o := range c.ReplicaSets {
		del(client.AppsV1().ReplicaSets(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.StatefulSets {
		del(client.AppsV1().StatefulSets(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.ReplicationControllers {
		del(client.CoreV1().ReplicationControllers(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.PersistentVolumes {
		del(client.CoreV1().PersistentVolumes().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.ResourceClaims {
		if len(o.Finalizers) > 0 {
			o.Finalizers = nil
			_, err := client.ResourceV1().ResourceClaims(o.Namespace).Update(ctx, o, metav1.UpdateOptions{})
			del(err)
		}
		del(client.ResourceV1().ResourceClaims(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.ResourceSlices {
		del(client.ResourceV1().ResourceSlices().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.DeviceClasses {
		del(client.ResourceV1().DeviceClasses().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.CSIStorageCapacities {
		del(client.StorageV1().CSIStorageCapacities(o.Namespace).Delete(ctx, o.Name, gone))
	}
	for _, o := range c.CSINodes {
		del(client.StorageV1().CSINodes().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.CSIDrivers {
		del(client.StorageV1().CSIDrivers().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.StorageClasses {
		del(client.StorageV1().StorageClasses().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.Nodes {
		del(client.CoreV1().Nodes().Delete(ctx, o.Name, gone))
	}
	for _, o := range c.PodDisruptionBudgets {
		del(client.PolicyV1().PodDisruptionBudgets(o.Namespace).Delete(ctx, o.Name, gone))
	}
	return failed
}

// Sync makes the API server's cluster go from one state to another, as edits have
// changed it.
func Sync(ctx context.Context, client kubernetes.Interface, from, to *fit.Cluster) error {
	now := int64(0)
	for _, p := range from.Pods {
		if !slices.Contains(to.Pods, p) {
			if err := client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
				return err
			}
		}
	}
	for _, o := range from.VolumeAttachments {
		if !slices.Contains(to.VolumeAttachments, o) {
			if err := client.StorageV1().VolumeAttachments().Delete(ctx, o.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	var changed fit.Cluster
	for _, p := range fresh(from.Pods, to.Pods) { // those are made anew
		p = p.DeepCopy()
		p.UID, p.ResourceVersion = "", ""
		changed.Pods = append(changed.Pods, p)
	}
	changed.ResourceSlices = fresh(from.ResourceSlices, to.ResourceSlices)
	changed.ResourceClaims = fresh(from.ResourceClaims, to.ResourceClaims)
	changed.Nodes = fresh(from.Nodes, to.Nodes)
	changed.CSINodes = fresh(from.CSINodes, to.CSINodes)
	changed.StorageClasses = fresh(from.StorageClasses, to.StorageClasses)
	changed.DeviceClasses = fresh(from.DeviceClasses, to.DeviceClasses)
	changed.PersistentVolumes = fresh(from.PersistentVolumes, to.PersistentVolumes)
	// Claims last: the UIDs of those there are stay as they are.
	changed.PersistentVolumeClaims = fresh(from.PersistentVolumeClaims, to.PersistentVolumeClaims)
	return Write(ctx, client, &changed)
}

// fresh are the objects that were not there as they are.
func fresh[T comparable](from, to []T) []T {
	seen := map[T]bool{}
	for _, o := range from {
		seen[o] = true
	}
	return slices.DeleteFunc(slices.Clone(to), func(o T) bool { return seen[o] })
}
