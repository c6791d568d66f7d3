package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unpreempted is a little over how long ktriage lets a pod wait for those that
// it pushed out: they may be shutting down.
const unpreempted = 5*time.Minute + 10*time.Second

var pendingPreemptionStuck = Fault{
	Name:   "pending-preemption-stuck",
	Doc:    "An urgent pod made another leave a full node, and that one does not go: a finalizer of somebody who is gone holds it.",
	Want:   Problem{Check: "scheduler-unschedulable-pods"},
	Slow:   true,
	Inject: preempt,
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, unpreempted+effectTimeout, "a pod that waits for others to be gone", func(ctx context.Context) error {
			return pendingPod(ctx, lab, "pending-preemption", unpreempted, metav1.ConditionFalse)
		})
	},
	Heal: unpreempt,
}
