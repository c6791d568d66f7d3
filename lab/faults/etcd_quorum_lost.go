package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdQuorumLost = Fault{
	Name:  "etcd-quorum-lost",
	Doc:   "Two of three etcd members, those of cp-2 and cp-3, are dead and stay dead. The API server can neither write nor read.",
	Want:  Problem{Check: "etcd-quorum-lost"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Kill(ctx, lab.Options.Components(cluster.Etcd)[1:]...)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		api := lab.Options.Components(cluster.APIServer)[0]
		return cluster.Until(ctx, effectTimeout, "an API server without etcd", func(ctx context.Context) error {
			metrics, err := lab.EtcdMetrics(ctx, 0)
			if err == nil && metrics["etcd_server_has_leader"] != 0 {
				err = errors.New("cp-1's member has a leader")
			}
			if err == nil && lab.Probe(ctx, api) == nil {
				err = errors.New("the API server is ready")
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Revive(ctx, lab.Options.Components(cluster.Etcd)[1:]...)
	},
}
