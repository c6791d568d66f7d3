package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var webhookNoEndpoints = Fault{
	Name: "webhook-no-endpoints",
	Doc:  "An admission webhook that fails closed has a service, and no pod behind it. No pod can be created in that namespace, its own included.",
	Want: Problem{Check: "webhook-backend-missing"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if _, err := guardService(ctx, lab, map[string]string{"app": guard}); err != nil {
			return err
		}
		if err := guardPods(ctx, lab, nil, 10); err != nil {
			return err
		}
		return deploy(ctx, lab, "refused", 2, "10m")
	},
	Wait: rejected("refused"),
	Heal: webhookNoService.Heal,
}
