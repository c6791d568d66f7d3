package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pendingGated is a shape of a healthy cluster: who puts a gate on a pod wants
// it to wait.
var pendingGated = Fault{
	Name: "pending-gated",
	Doc:  "Pods wait behind a scheduling gate, as their owner asked for.",
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return deployPods(ctx, lab, "pending-gated", 2, func(spec *corev1.PodSpec) {
			spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
		})
	},
	Wait: waitPending("pending-gated", metav1.ConditionFalse),
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return undeploy(ctx, lab, "pending-gated") },
}
