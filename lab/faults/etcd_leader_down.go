package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

// etcdLeaderDown is etcdMemberDown at its worst: what was under way when the
// leader died has failed, and the others have elected another.
var etcdLeaderDown = Fault{
	Name:  "etcd-leader-down",
	Doc:   "The etcd member that led, cp-3's, is dead and stays dead. Another leads now; the cluster can't lose one more.",
	Want:  etcdMemberDown.Want,
	Also:  etcdMemberDown.Also,
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 2); err != nil {
			return err
		}
		return lab.Kill(ctx, lab.Options.Components(cluster.Etcd)[2])
	},
	Wait: etcdMemberDown.Wait,
	Heal: etcdMemberDown.Heal,
}
