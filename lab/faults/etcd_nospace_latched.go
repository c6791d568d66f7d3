package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdNospaceLatched = Fault{
	Name: "etcd-nospace-latched",
	Doc:  "Etcd's quota was full. There is space again since, but nobody has taken back the alarm, so it still takes no write.",
	Want: etcdNospace.Want,
	Lab:  withSmallQuota,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := fill(ctx, lab, 0); err != nil {
			return err
		}
		if err := alarmed(ctx, lab); err != nil {
			return err
		}
		return freeSpace(ctx, lab)
	},
	Wait: etcdNospace.Wait,
	Heal: etcdNospace.Heal,
}
