package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var pendingUnknownScheduler = Fault{
	Name: "pending-unknown-scheduler",
	Doc:  "A deployment's pods ask for a scheduler that does not exist. The schedulers that do are well.",
	Want: Problem{Check: "pod-pending-no-condition"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return deployPods(ctx, lab, "pending-unknown-scheduler", 2, func(spec *corev1.PodSpec) { spec.SchedulerName = "gpu-scheduler" })
	},
	Wait: waitPending("pending-unknown-scheduler", metav1.ConditionUnknown),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return undeploy(ctx, lab, "pending-unknown-scheduler")
	},
}
