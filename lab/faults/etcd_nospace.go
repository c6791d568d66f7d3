package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdNospace = Fault{
	Name: "etcd-nospace",
	Doc:  "Etcd's quota, 32 MiB here, is full. It takes no write, so no lease can be renewed, and all that elect a leader give up.",
	Want: Problem{Check: "etcd-nospace-alarm"},
	Lab:  withSmallQuota,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return fill(ctx, lab, 0)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		if err := alarmed(ctx, lab); err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "expired leases", func(ctx context.Context) error {
			return errors.Join(leaseExpired(ctx, lab, cluster.ControllerManager), leaseExpired(ctx, lab, cluster.Scheduler))
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := freeSpace(ctx, lab); err != nil {
			return fmt.Errorf("make space: %w", err)
		}
		_, err := lab.Etcdctl(ctx, "alarm", "disarm")
		return err
	},
}
