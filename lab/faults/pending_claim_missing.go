package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var pendingClaimMissing = Fault{
	Name: "pending-claim-missing",
	Doc:  "A deployment's pods want a device by a resource claim that nobody made. The scheduler keeps them back and says nothing of it anywhere.",
	Want: Problem{Check: "scheduler-unschedulable-pods"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return deployPods(ctx, lab, "pending-claim-missing", 1, func(spec *corev1.PodSpec) {
			name := "forgotten"
			spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: &name}}
		})
	},
	Wait: waitPending("pending-claim-missing", metav1.ConditionUnknown),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return undeploy(ctx, lab, "pending-claim-missing")
	},
}
