package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var schedulerCertExpired = Fault{
	Name:  "scheduler-cert-expired",
	Doc:   "The schedulers' client certificates have expired. They run, are answered 401, and no pod is placed.",
	Want:  Problem{Check: "client-cert-expiring"},
	Or:    []Problem{{Check: "kcm-client-errors"}},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := expire(ctx, lab, cluster.Scheduler, lab.Options.SchedulerKubeconfig, -1); err != nil {
			return err
		}
		return deploy(ctx, lab, unscheduled, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "an expired lease and pods without a node", func(ctx context.Context) error {
			if err := leaseExpired(ctx, lab, cluster.Scheduler); err != nil {
				return err
			}
			return pendingPod(ctx, lab, unscheduled, ignored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := expire(ctx, lab, cluster.Scheduler, lab.Options.SchedulerKubeconfig, 1); err != nil {
			return err
		}
		return undeploy(ctx, lab, unscheduled)
	},
}
