package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// over is how long ago an incident must be to be past.
const over = time.Minute

var afterSlowDisk = Fault{
	Name:  "after-slow-disk",
	Doc:   "Etcd's disks were slow, and have been fine for a minute: what was counted over the processes' lives still shows it.",
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := slowFsync.Inject(ctx, lab); err != nil {
			return err
		}
		if err := slowFsync.Wait(ctx, lab); err != nil {
			return err
		}
		return slowFsync.Heal(ctx, lab)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.WaitHealthy(ctx); err != nil {
			return err
		}
		start := time.Now()
		return cluster.Until(ctx, over+effectTimeout, "the incident to be past", func(context.Context) error {
			if d := time.Since(start); d < over {
				return fmt.Errorf("it ended %s ago", d.Round(time.Second))
			}
			return nil
		})
	},
	Heal: slowFsync.Heal,
}
