package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var apiServerInstanceDown = Fault{
	Name:  "apiserver-instance-down",
	Doc:   "One of two API servers, cp-2's, is dead and stays dead. Who asks the other notices nothing.",
	Want:  Problem{Check: "apiserver-unreachable", Target: "apiserver/cp-2"},
	Scars: true,
	Lab:   func(o *cluster.Options) { o.APIServers = 2 },
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Kill(ctx, lab.Options.Components(cluster.APIServer)[1])
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		dead := lab.Options.Components(cluster.APIServer)[1]
		return cluster.Until(ctx, effectTimeout, "an API server that is missed", func(ctx context.Context) error {
			return unready(ctx, lab, dead)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Revive(ctx, lab.Options.Components(cluster.APIServer)[1])
	},
}
