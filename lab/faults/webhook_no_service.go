package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var webhookNoService = Fault{
	Name: "webhook-no-service",
	Doc:  "An admission webhook that fails closed was left behind when its service was removed. No pod can be created in that namespace.",
	Want: Problem{Check: "webhook-backend-missing"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := guardPods(ctx, lab, nil, 10); err != nil {
			return err
		}
		return deploy(ctx, lab, "refused", 2, "10m")
	},
	Wait: rejected("refused"),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := removeGuard(ctx, lab); err != nil {
			return err
		}
		return undeploy(ctx, lab, "refused")
	},
}
