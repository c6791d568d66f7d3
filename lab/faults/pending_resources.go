package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tooBig is a deployment whose pods fit on no node.
const tooBig = "too-big"

var pendingResources = Fault{
	Name: "pending-resources",
	Doc:  "A deployment's pods ask for more CPU than any node has. The control plane is well, and must not be blamed.",
	Want: Problem{Check: "scheduler-unschedulable-pods"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return deploy(ctx, lab, tooBig, 2, "64")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods that fit nowhere", func(ctx context.Context) error {
			return pendingPod(ctx, lab, tooBig, ignored, metav1.ConditionFalse)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return undeploy(ctx, lab, tooBig) },
}
