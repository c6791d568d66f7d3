package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

const kcmRole = "system:kube-controller-manager"

var kcmForbidden = Fault{
	Name:  "kcm-forbidden",
	Doc:   "The controller managers have lost their rights: the binding of their role is gone. They are answered 403, give up their lease and end, again and again.",
	Want:  Problem{Check: "kcm-client-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := revoke(ctx, lab, kcmRole); err != nil {
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
		if err := grant(ctx, lab, kcmRole, user(kcmRole)); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
