package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

var webhookSlow = Fault{
	Name: "webhook-slow",
	Doc:  "An admission webhook takes three seconds to allow a pod. Everything works, and every pod waits.",
	Want: Problem{Check: "webhook-slow"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		ca, err := guardBackend(ctx, lab, 3*time.Second)
		if err != nil {
			return err
		}
		if err := guardPods(ctx, lab, ca, 10); err != nil {
			return err
		}
		return writePods(ctx, lab)
	},
	Wait: waitWebhook,
	Heal: removeGuard,
}
