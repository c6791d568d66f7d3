package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var schedulerCertExpired = Fault{
	Name:  "scheduler-cert-expired",
	Doc:   "The schedulers' client certificates have expired. They run, are answered 401, and no pod is placed.",
	Want:  Problem{Check: "kcm-client-errors"},
	Or:    []Problem{{Check: "scheduler-down"}},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := expire(ctx, lab, cluster.Scheduler, lab.Options.SchedulerKubeconfig, -1); err != nil {
			return err
		}
		return deploy(ctx, lab, unscheduled, 2, "100m")
	},
	Wait: schedulerForbidden.Wait,
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := expire(ctx, lab, cluster.Scheduler, lab.Options.SchedulerKubeconfig, 1); err != nil {
			return err
		}
		return undeploy(ctx, lab, unscheduled)
	},
}
