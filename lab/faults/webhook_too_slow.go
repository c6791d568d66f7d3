package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

var webhookTooSlow = Fault{
	Name: "webhook-too-slow",
	Doc:  "An admission webhook that fails closed needs longer than it is given: each call ends at its timeout of two seconds, and no pod can be created.",
	Want: Problem{Check: "webhook-failing-closed"},
	Or:   []Problem{{Check: "webhook-slow"}},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		ca, err := guardBackend(ctx, lab, time.Minute)
		if err != nil {
			return err
		}
		if err := guardPods(ctx, lab, ca, 2); err != nil {
			return err
		}
		if err := deploy(ctx, lab, "refused", 2, "10m"); err != nil {
			return err
		}
		return writePods(ctx, lab)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		if err := rejected("refused")(ctx, lab); err != nil {
			return err
		}
		return waitWebhook(ctx, lab)
	},
	Heal: webhookNoService.Heal,
}
