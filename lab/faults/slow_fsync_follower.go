package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var slowFsyncFollower = Fault{
	Name: "slow-fsync-follower",
	Doc:  "The disk of one etcd follower, cp-3's member, takes 600 ms to sync. The other two are a quorum: only what that member serves is slow.",
	Want: Problem{Check: "etcd-wal-fsync-slow", Target: "etcd/cp-3"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return delaySyncs(ctx, lab, lab.Options.Components(cluster.Etcd)[2])
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return waitSlowSyncs(ctx, lab, lab.Options.Components(cluster.Etcd)[2])
	},
	Heal: healSyncs,
}
