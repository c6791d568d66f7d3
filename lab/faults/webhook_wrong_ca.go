package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/pki"
)

var webhookWrongCA = Fault{
	Name: "webhook-wrong-ca",
	Doc:  "The backend of an admission webhook that fails closed has a new certificate; its configuration still trusts the old authority. No pod can be created in that namespace.",
	Want: Problem{Check: "webhook-cabundle-bad"},
	Or:   []Problem{{Check: "webhook-failing-closed"}},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if _, err := guardBackend(ctx, lab, 0); err != nil {
			return err
		}
		old, err := pki.NewAuthority("old-guard-ca")
		if err != nil {
			return err
		}
		if err := guardPods(ctx, lab, old.Cert, 10); err != nil {
			return err
		}
		if err := deploy(ctx, lab, "refused", 2, "10m"); err != nil {
			return fmt.Errorf("deploy what is refused: %w", err)
		}
		return writePods(ctx, lab)
	},
	Wait: rejected("refused"),
	Heal: webhookNoService.Heal,
}
