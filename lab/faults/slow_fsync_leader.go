package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var slowFsyncLeader = Fault{
	Name:  "slow-fsync-leader",
	Doc:   "The disk of the etcd leader, which is cp-1's member, takes 600 ms to sync; the others' are fine.",
	Want:  Problem{Check: "etcd-wal-fsync-slow", Target: "etcd/cp-1"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return delaySyncs(ctx, lab, lab.Options.Components(cluster.Etcd)[0])
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return waitSlowSyncs(ctx, lab, lab.Options.Components(cluster.Etcd)[0])
	},
	Heal: healSyncs,
}
