package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdMemberFrozen = Fault{
	Name:  "etcd-member-frozen",
	Doc:   "One of three etcd members, cp-3's, which did not lead, stands still: it accepts connections and answers nothing.",
	Want:  etcdMemberDown.Want,
	Also:  etcdMemberDown.Also,
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Freeze(ctx, lab.Options.Components(cluster.Etcd)[2].Name())
	},
	Wait: frozenMember,
	Heal: thawMember,
}

// frozenMember waits until cp-3's member answers nothing and another leads.
func frozenMember(ctx context.Context, lab *cluster.Lab) error {
	return cluster.Until(ctx, effectTimeout, "a frozen member", func(ctx context.Context) error {
		if _, err := lab.EtcdMetrics(ctx, 2); err == nil {
			return errors.New("it answers")
		}
		if err := unready(ctx, lab, lab.Options.Components(cluster.Etcd)[2]); err != nil {
			return err
		}
		_, err := lab.EtcdLeader(ctx)
		return err
	})
}

func thawMember(ctx context.Context, lab *cluster.Lab) error {
	return lab.Thaw(ctx, lab.Options.Components(cluster.Etcd)[2].Name())
}
