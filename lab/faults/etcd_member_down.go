package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdMemberDown = Fault{
	Name:  "etcd-member-down",
	Doc:   "One of three etcd members, cp-3's, which did not lead, is dead and stays dead. The cluster works, and can't lose another.",
	Want:  Problem{Check: "etcd-member-unreachable", Target: "etcd/cp-3"},
	Also:  []string{"etcd-quorum-fragile"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Kill(ctx, lab.Options.Components(cluster.Etcd)[2])
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		dead := lab.Options.Components(cluster.Etcd)[2]
		return cluster.Until(ctx, effectTimeout, "etcd to miss a member", func(ctx context.Context) error {
			if err := unready(ctx, lab, dead); err != nil {
				return err
			}
			leader, err := lab.EtcdLeader(ctx)
			if err == nil && leader == dead.Node {
				err = fmt.Errorf("%s still leads", dead.Name())
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Revive(ctx, lab.Options.Components(cluster.Etcd)[2])
	},
}
