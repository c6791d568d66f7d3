package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

const kcmRole = "system:kube-controller-manager"

var kcmForbidden = Fault{
	Name:  "kcm-forbidden",
	Doc:   "The controller managers have lost their rights: the binding of their role is gone, and they were restarted. They may do nothing but hold their lease.",
	Want:  Problem{Check: "kcm-client-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := revoke(ctx, lab, kcmRole); err != nil {
			return err
		}
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, nil); err != nil {
				return err
			}
		}
		return deploy(ctx, lab, unobserved, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a deployment that nobody looks at", func(ctx context.Context) error {
			return ignoredDeployment(ctx, lab, unobserved)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := grant(ctx, lab, kcmRole, user(kcmRole)); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
