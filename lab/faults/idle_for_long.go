package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

// idleCompactions must have been: the history of a cluster that just runs is cut
// off again and again.
const idleCompactions = 2

var idleForLong = Fault{
	Name: "idle-for-long",
	Doc:  "A cluster without any workload that has been left alone: no pod to place, leases held all the time, etcd's history compacted more than once. In ten seconds next to nothing is observed.",
	Lab: func(o *cluster.Options) {
		o.Bare = true
		o.SetArg(cluster.APIServer, "etcd-compaction-interval", "30s")
	},
	Inject: nothing,
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		seen := map[float64]bool{}
		return cluster.Until(ctx, effectTimeout, "etcd's history to be compacted", func(ctx context.Context) error {
			metrics, err := lab.EtcdMetrics(ctx, 0)
			if err != nil {
				return err
			}
			// The revision is −1 before the first.
			if revision := metrics["etcd_debugging_mvcc_compact_revision"]; revision > 0 {
				seen[revision] = true
			}
			if len(seen) < idleCompactions {
				return fmt.Errorf("it was %d times", len(seen))
			}
			return lab.WaitHealthy(ctx)
		})
	},
	Heal: nothing,
}
