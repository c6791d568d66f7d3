package controllers

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Deployments are those of which fewer pods are available than may be.
var Deployments = newLoop("deployments", "the Deployments of which fewer pods are available than they allow", "Deployment", "",
	func() looker {
		return each[*appsv1.Deployment](func(l *Loop, o *appsv1.Deployment, now time.Time) {
			for _, c := range o.Status.Conditions {
				age := now.Sub(c.LastTransitionTime.Time)
				if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionFalse && age > Settled && wants(o.Spec.Replicas) > 0 {
					l.hold(o, "fewer pods available than it allows", age)
				}
			}
		})
	}, list("/apis/apps/v1/deployments"))

// StatefulSets are those that have been less than they should be for long.
var StatefulSets = newLoop("statefulsets", "the StatefulSets that lack ready pods, or whose rollout does not go on", "StatefulSet", "",
	func() looker {
		return each[*appsv1.StatefulSet](func(l *Loop, o *appsv1.StatefulSet, now time.Time) {
			age := unchanged(o, now)
			if age <= Settled || o.Status.ObservedGeneration < o.Generation {
				return // what its controller has not seen is told elsewhere
			}
			switch want := wants(o.Spec.Replicas); {
			case o.Status.Replicas < want:
				l.hold(o, "pods that are not created, one not being ready or its creation refused", age)
			case o.Status.ReadyReplicas < want:
				l.hold(o, "pods that are not ready", age).Missing += int(want - o.Status.ReadyReplicas)
			case o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && partition(o) == 0 &&
				o.Status.UpdateRevision != "" && o.Status.UpdatedReplicas < want:
				l.hold(o, "a rollout that does not go on", age)
			}
		})
	}, list("/apis/apps/v1/statefulsets"))

func partition(o *appsv1.StatefulSet) int32 {
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		return *r.Partition
	}
	return 0
}

func wants(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// DaemonSets are those that do not run where they should, and those whose
// controller counts other nodes than there are for them.
var DaemonSets = newLoopOf("daemonsets", "the DaemonSets that lack pods, and those whose controller has not taken up a node", "DaemonSet", "daemonset",
	[]collectors.Any{places},
	func(s *collectors.Snapshot) looker {
		nodes, _ := places.One(s) // without them, nothing is said of them
		return &daemons{nodes: nodes}
	}, list("/apis/apps/v1/daemonsets"))

type daemons struct{ nodes []place }

func (d *daemons) look(l *Loop, _ int, x objects.Object, now time.Time) {
	o := x.(*appsv1.DaemonSet)
	l.Objects++
	if o.DeletionTimestamp != nil || o.Status.ObservedGeneration < o.Generation {
		return // what its controller has not seen is told elsewhere
	}
	d.count(l, o, now)
	s, age := o.Status, unchanged(o, now)
	switch {
	case age <= Settled:
	case s.CurrentNumberScheduled < s.DesiredNumberScheduled:
		l.hold(o, "nodes without its pod, whose creation may be refused", age)
	case s.NumberReady < s.DesiredNumberScheduled:
		l.hold(o, "pods that are not ready", age).Missing += int(s.DesiredNumberScheduled - s.NumberReady)
	case s.NumberMisscheduled > 0:
		l.hold(o, "pods on nodes where they do not belong any more", age)
	case o.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType && s.UpdatedNumberScheduled < s.DesiredNumberScheduled:
		l.hold(o, "a rollout that does not go on", age)
	}
}

// count looks on how many nodes it should run. Its controller has not taken up
// a node if it wants fewer than those that have been there, as they are, for
// longer than it needs. One that is gone it may want still.
func (d *daemons) count(l *Loop, o *appsv1.DaemonSet, now time.Time) {
	should := 0
	var youngest time.Duration
	for _, n := range d.nodes {
		if age := now.Sub(n.since); age > Patience && n.takes(o) {
			should++
			if youngest == 0 || age < youngest {
				youngest = age
			}
		}
	}
	if want := int(o.Status.DesiredNumberScheduled); want < should {
		l.Behind++
		if l.Example == "" || youngest > l.Oldest {
			l.Oldest, l.Example = youngest, fmt.Sprintf("%s, for %d of %d nodes", id(o), want, should)
		}
	}
}
