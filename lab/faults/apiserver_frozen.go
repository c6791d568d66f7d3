package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var apiServerFrozen = Fault{
	Name:  "apiserver-frozen",
	Doc:   "The only API server hangs: it takes connections and answers nothing.",
	Want:  Problem{Check: "apiserver-unreachable"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Freeze(ctx, firstAPIServer(lab).Name())
	},
	Wait: waitNoAPI,
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Thaw(ctx, firstAPIServer(lab).Name())
	},
}
