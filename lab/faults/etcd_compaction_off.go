package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// uncompacted is the API server's usual interval and a bit: where all are told
// never to compact, nothing is waited for longer.
const uncompacted = 5*time.Minute + 20*time.Second

var etcdCompactionOff = Fault{
	Name:   "etcd-compaction-off",
	Doc:    "The API server was told not to compact etcd's history (--etcd-compaction-interval=0), and has not for 5 minutes.",
	Want:   Problem{Check: "etcd-compaction-stalled"},
	Lab:    func(o *cluster.Options) { o.SetArg(cluster.APIServer, "etcd-compaction-interval", "0") },
	Slow:   true,
	Inject: nothing,
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, uncompacted+effectTimeout, "a long history", func(ctx context.Context) error {
			for _, c := range lab.Options.Components(cluster.Etcd) {
				state, err := lab.Supervisor.State(ctx, c.Name())
				if err != nil {
					return err
				}
				if up := time.Since(state.StartedAt); up < uncompacted {
					return fmt.Errorf("%s is up for %s only", c.Name(), up.Round(time.Second))
				}
			}
			return nil
		})
	},
	Heal: nothing,
}
