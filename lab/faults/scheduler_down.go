package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unscheduled is a deployment created while no scheduler runs.
const unscheduled = "unscheduled"

// ignored is how old a pending pod must be before ktriage makes much of it: a
// little over its 30 s.
const ignored = 35 * time.Second

var schedulerDown = Fault{
	Name:  "scheduler-down",
	Doc:   "All schedulers are dead and stay dead. Pods created since then are pending, and no condition says why.",
	Want:  Problem{Check: "scheduler-down"},
	Also:  []string{"scheduler-no-leader"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Kill(ctx, lab.Options.Components(cluster.Scheduler)...); err != nil {
			return err
		}
		return deploy(ctx, lab, unscheduled, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "an expired lease and pods that nobody looks at", func(ctx context.Context) error {
			if err := unready(ctx, lab, lab.Options.Components(cluster.Scheduler)...); err != nil {
				return err
			}
			if err := leaseExpired(ctx, lab, cluster.Scheduler); err != nil {
				return err
			}
			return pendingPod(ctx, lab, unscheduled, ignored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Revive(ctx, lab.Options.Components(cluster.Scheduler)...); err != nil {
			return err
		}
		return undeploy(ctx, lab, unscheduled)
	},
}
