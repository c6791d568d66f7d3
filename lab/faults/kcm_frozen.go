package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var kcmFrozen = Fault{
	Name:  "kcm-frozen",
	Doc:   "All controller managers hang: their processes are there and answer nothing, and their lease runs out. A deployment created since then has no replicas.",
	Want:  Problem{Check: "kcm-down"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Freeze(ctx, cluster.Names(lab.Options.Components(cluster.ControllerManager))...); err != nil {
			return err
		}
		return deploy(ctx, lab, unobserved, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "an expired lease and a deployment that nobody looks at", func(ctx context.Context) error {
			if err := leaseExpired(ctx, lab, cluster.ControllerManager); err != nil {
				return err
			}
			return ignoredDeployment(ctx, lab, unobserved)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Thaw(ctx, cluster.Names(lab.Options.Components(cluster.ControllerManager))...); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
