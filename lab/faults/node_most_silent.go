package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
)

var nodeMostSilent = Fault{
	Name:  "node-most-silent",
	Doc:   "No worker's kubelet has been heard of for a minute, five of eight nodes at once: what they share has failed, not they.",
	Want:  Problem{Check: "nodes-mass-notready"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Freeze(ctx, cluster.WorkersKubelet)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return waitNotReady(ctx, lab, workers(lab)...)
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.Thaw(ctx, cluster.WorkersKubelet); err != nil {
			return err
		}
		return replaceUnready(ctx, lab, workers(lab)...)
	},
}

func workers(lab *cluster.Lab) []string {
	var names []string
	for i := range lab.Options.Workers {
		names = append(names, lab.Options.WorkerName(i))
	}
	return names
}
