package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdLeaderFrozen = Fault{
	Name:  "etcd-leader-frozen",
	Doc:   "The etcd member that led, cp-3's, stands still: it accepts connections and answers nothing. Another leads now.",
	Want:  etcdMemberDown.Want,
	Also:  etcdMemberDown.Also,
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 2); err != nil {
			return err
		}
		return lab.Freeze(ctx, lab.Options.Components(cluster.Etcd)[2].Name())
	},
	Wait: frozenMember,
	Heal: thawMember,
}
