package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

// harmlessSize is above what is worth a word, and far from the quota of 2 GiB.
const harmlessSize = 150 << 20

var harmlessFragmentation = Fault{
	Name:  "harmless-fragmentation",
	Doc:   "Etcd's database is mostly free pages, as much was deleted; its quota is far.",
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := fill(ctx, lab, harmlessSize); err != nil {
			return err
		}
		return dropBallast(ctx, lab)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return fragmented(ctx, lab, harmlessSize)
	},
	Heal: freeSpace,
}
