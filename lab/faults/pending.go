package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pendingBecause is a fault of the user's: pods that edit makes impossible to
// place. The control plane is well, and must not be blamed.
func pendingBecause(name, doc string, replicas int32, edit func(*corev1.PodSpec)) Fault {
	return Fault{
		Name: name,
		Doc:  doc,
		Want: Problem{Check: "scheduler-unschedulable-pods"},
		Inject: func(ctx context.Context, lab *cluster.Lab) error {
			return deployPods(ctx, lab, name, replicas, edit)
		},
		Wait: waitPending(name, metav1.ConditionFalse),
		Heal: func(ctx context.Context, lab *cluster.Lab) error { return undeploy(ctx, lab, name) },
	}
}

// waitPending waits for pods of a deployment that are pending for long enough
// that ktriage makes something of it.
func waitPending(deployment string, scheduled metav1.ConditionStatus) func(context.Context, *cluster.Lab) error {
	return func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods that wait for a node", func(ctx context.Context) error {
			return pendingPod(ctx, lab, deployment, ignored, scheduled)
		})
	}
}
