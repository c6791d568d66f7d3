package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var kcmCertExpired = Fault{
	Name:  "kcm-cert-expired",
	Doc:   "The controller managers' client certificates have expired. They run, are answered 401, and no controller works.",
	Want:  Problem{Check: "client-cert-expiring"},
	Or:    []Problem{{Check: "kcm-client-errors"}},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := expire(ctx, lab, cluster.ControllerManager, lab.Options.ControllerManagerKubeconfig, -1); err != nil {
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
		if err := expire(ctx, lab, cluster.ControllerManager, lab.Options.ControllerManagerKubeconfig, 1); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
