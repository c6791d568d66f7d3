package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
)

var apiServerDown = Fault{
	Name:  "apiserver-down",
	Doc:   "The only API server is dead and stays dead. Nothing can be asked but etcd.",
	Want:  Problem{Check: "apiserver-unreachable"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Kill(ctx, firstAPIServer(lab))
	},
	Wait: waitNoAPI,
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Revive(ctx, firstAPIServer(lab))
	},
}

// waitNoAPI waits until the first API server doesn't answer.
func waitNoAPI(ctx context.Context, lab *cluster.Lab) error {
	return cluster.Until(ctx, effectTimeout, "an API server that does not answer", func(ctx context.Context) error {
		if lab.Probe(ctx, firstAPIServer(lab)) == nil {
			return errors.New("it is ready")
		}
		return nil
	})
}
