package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdNodeCutOff = Fault{
	Name:  "etcd-node-cut-off",
	Doc:   "The network cable of cp-3 is out. Its etcd member, a follower, can't be reached by anybody.",
	Want:  etcdMemberDown.Want,
	Also:  etcdMemberDown.Also,
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Unplug(ctx, 2)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a member without a leader", func(ctx context.Context) error {
			// The node's own 127.0.0.1 does not need the cable.
			metrics, err := lab.EtcdMetrics(ctx, 2)
			if err == nil && metrics["etcd_server_has_leader"] != 0 {
				err = errors.New("cp-3's member has a leader")
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return lab.Plug(ctx, 2) },
}
