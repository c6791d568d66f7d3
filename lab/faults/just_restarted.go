package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var justRestarted = Fault{
	Name:  "just-restarted",
	Doc:   "All components were started anew a moment ago, one after another, as an upgrade does.",
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components() {
			if err := lab.Reconfigure(ctx, c, nil); err != nil {
				return err
			}
			if err := lab.WaitReady(ctx, c); err != nil {
				return err
			}
		}
		return nil
	},
	Wait: healthy,
	Heal: nothing,
}
