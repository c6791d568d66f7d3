package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

// fragmentedSize fills most of smallQuota.
const fragmentedSize = 0.88 * smallQuota

var etcdFragmented = Fault{
	Name: "etcd-fragmented",
	Doc:  "Etcd's database fills most of its quota of 32 MiB, and nearly all of it is free pages: what filled it was deleted.",
	Want: Problem{Check: "etcd-db-fragmented"},
	Lab:  withSmallQuota,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := fill(ctx, lab, fragmentedSize); err != nil {
			return err
		}
		return dropBallast(ctx, lab)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return fragmented(ctx, lab, fragmentedSize)
	},
	Heal: freeSpace,
}

// fragmented waits until the first member's database is that large, and all are
// mostly free pages. Databases with the same content differ in size.
func fragmented(ctx context.Context, lab *cluster.Lab, size float64) error {
	return cluster.Until(ctx, effectTimeout, "free pages", func(ctx context.Context) error {
		for _, c := range lab.Options.Components(cluster.Etcd) {
			metrics, err := lab.EtcdMetrics(ctx, c.Node)
			if err != nil {
				return err
			}
			total, used := metrics["etcd_mvcc_db_total_size_in_bytes"], metrics["etcd_mvcc_db_total_size_in_use_in_bytes"]
			if c.Node == 0 && total < size || used > total/2 {
				return fmt.Errorf("%s uses %.0f of %.0f bytes", c.Name(), used, total)
			}
		}
		return nil
	})
}
