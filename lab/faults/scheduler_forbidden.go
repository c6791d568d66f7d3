package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const schedulerRole = "system:kube-scheduler"

var schedulerForbidden = Fault{
	Name:  "scheduler-forbidden",
	Doc:   "The schedulers have lost their rights: the binding of their role is gone. One still leads, for a role of its own allows that, but each binding is answered 403.",
	Want:  Problem{Check: "kcm-client-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := revoke(ctx, lab, schedulerRole); err != nil {
			return err
		}
		return deploy(ctx, lab, unscheduled, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods without a node", func(ctx context.Context) error {
			return pendingPod(ctx, lab, unscheduled, ignored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := grant(ctx, lab, schedulerRole, user(schedulerRole)); err != nil {
			return err
		}
		return undeploy(ctx, lab, unscheduled)
	},
}
