package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// otherIgnored is how old a pending pod of somebody's own scheduler must be
// before ktriage makes much of it: a little over its two minutes.
const otherIgnored = 125 * time.Second

var pendingUnknownScheduler = Fault{
	Name: "pending-unknown-scheduler",
	Doc:  "A deployment's pods ask for a scheduler that does not exist. The schedulers that do are well.",
	Want: Problem{Check: "pod-pending-no-condition"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return deployPods(ctx, lab, "pending-unknown-scheduler", 2, func(spec *corev1.PodSpec) { spec.SchedulerName = "gpu-scheduler" })
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods that wait for longer than any scheduler takes", func(ctx context.Context) error {
			return pendingPod(ctx, lab, "pending-unknown-scheduler", otherIgnored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return undeploy(ctx, lab, "pending-unknown-scheduler")
	},
}
