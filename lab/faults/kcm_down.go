package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// unobserved is a deployment created while no controller manager runs.
const unobserved = "unobserved"

// unobservedFor is how long a deployment must have gone unobserved before
// ktriage finds that strange.
const unobservedFor = 65 * time.Second

var kcmDown = Fault{
	Name:  "kcm-down",
	Doc:   "All controller managers are dead and stay dead. A deployment created since then has no replicas and no status.",
	Want:  Problem{Check: "kcm-down"},
	Also:  []string{"kcm-no-leader"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Kill(ctx, lab.Options.Components(cluster.ControllerManager)...); err != nil {
			return err
		}
		return deploy(ctx, lab, unobserved, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "an expired lease and a deployment that nobody looks at", func(ctx context.Context) error {
			if err := unready(ctx, lab, lab.Options.Components(cluster.ControllerManager)...); err != nil {
				return err
			}
			if err := leaseExpired(ctx, lab, cluster.ControllerManager); err != nil {
				return err
			}
			return ignoredDeployment(ctx, lab, unobserved)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Revive(ctx, lab.Options.Components(cluster.ControllerManager)...); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
