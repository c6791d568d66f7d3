package controllers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// goneBy is how long past its grace period a pod may still be there [exp].
const goneBy = 5 * time.Minute

// Deleted are the pods that were deleted and stay.
var Deleted = unlessLarge(newLoopOf("deleted", "the pods that stay though their grace period is over", "Pod", "",
	[]collectors.Any{cluster.NodeSummary},
	func(*collectors.Snapshot) looker {
		return deleted(func(l *Loop, o *corev1.Pod, now time.Time) {
			// The time of a pod's deletion is when its grace period ends.
			late := now.Sub(o.DeletionTimestamp.Time)
			switch {
			case late <= goneBy:
			case len(o.Finalizers) > 0:
				l.hold(o, "waiting for whoever takes away the finalizer "+strings.Join(o.Finalizers[:min(len(o.Finalizers), 2)], ", "), late)
			case o.Spec.NodeName == "":
				l.hold(o, "without a node to wait for", late)
			default:
				h := l.hold(o, "not ended by the kubelet of "+o.Spec.NodeName, late)
				h.Bad, h.Mark = true, "node="+o.Spec.NodeName
			}
		})
	}, first(allPods)))

// deleted is each for those that are being deleted.
type deleted func(l *Loop, o *corev1.Pod, now time.Time)

func (f deleted) look(l *Loop, _ int, o objects.Object, now time.Time) {
	l.Objects++
	if o.GetDeletionTimestamp() != nil {
		f(l, o.(*corev1.Pod), now)
	}
}
