package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var schedulerFrozen = Fault{
	Name:  "scheduler-frozen",
	Doc:   "All schedulers hang: their processes are there and answer nothing, and their lease runs out.",
	Want:  Problem{Check: "scheduler-down"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Freeze(ctx, cluster.Names(lab.Options.Components(cluster.Scheduler))...); err != nil {
			return err
		}
		return deploy(ctx, lab, unscheduled, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "an expired lease and pods that nobody looks at", func(ctx context.Context) error {
			if err := leaseExpired(ctx, lab, cluster.Scheduler); err != nil {
				return err
			}
			return pendingPod(ctx, lab, unscheduled, ignored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Thaw(ctx, cluster.Names(lab.Options.Components(cluster.Scheduler))...); err != nil {
			return err
		}
		return undeploy(ctx, lab, unscheduled)
	},
}
