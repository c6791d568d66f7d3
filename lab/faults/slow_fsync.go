package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// syncDelay is that of a disk that is badly overloaded: each write to the API
// waits for at least one sync. More, and etcd would lose its leader all the
// time, which is another fault.
const syncDelay = 600 * time.Millisecond

// slowSyncs is how many slow syncs each member must have seen: enough that a
// short window has some, too.
const slowSyncs = 10

var slowFsync = Fault{
	Name:  "slow-fsync",
	Doc:   "Every etcd member's disk takes 600 ms to sync, so every write to the API takes that long or longer.",
	Want:  Problem{Check: "etcd-wal-fsync-slow"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return delaySyncs(ctx, lab, lab.Options.Components(cluster.Etcd)...)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return waitSlowSyncs(ctx, lab, lab.Options.Components(cluster.Etcd)...)
	},
	Heal: healSyncs,
}

func delaySyncs(ctx context.Context, lab *cluster.Lab, members ...cluster.Component) error {
	for _, c := range members {
		if err := lab.DelaySync(ctx, c, syncDelay); err != nil {
			return err
		}
	}
	return nil
}

func healSyncs(ctx context.Context, lab *cluster.Lab) error {
	for _, c := range lab.Options.Components(cluster.Etcd) {
		if err := lab.SpeedUpSync(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// waitSlowSyncs waits until each member's histogram has grown by slow syncs.
func waitSlowSyncs(ctx context.Context, lab *cluster.Lab, members ...cluster.Component) error {
	first := map[int]float64{}
	return cluster.Until(ctx, effectTimeout, "slow syncs in etcd's histograms", func(ctx context.Context) error {
		for _, c := range members {
			metrics, err := lab.EtcdMetrics(ctx, c.Node)
			if err != nil {
				return err
			}
			const histogram = "etcd_disk_wal_fsync_duration_seconds"
			slow := metrics[histogram+"_count"] - metrics[histogram+`_bucket{le="0.512"}`]
			if _, ok := first[c.Node]; !ok {
				first[c.Node] = slow
			}
			if n := slow - first[c.Node]; n < slowSyncs {
				return fmt.Errorf("%s has seen %.0f syncs above 512 ms", c.Name(), n)
			}
		}
		return nil
	})
}
