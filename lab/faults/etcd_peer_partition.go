package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdPeerPartition = Fault{
	Name:  "etcd-peer-partition",
	Doc:   "The network between cp-3 and the other control-plane nodes is broken. Its etcd member runs and answers us, but has no leader.",
	Want:  Problem{Check: "etcd-no-leader", Target: "etcd/cp-3"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Part(ctx, 2, 0, 1)
	},
	Wait: etcdNodeCutOff.Wait,
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return lab.Join(ctx, 2, 0, 1) },
}
