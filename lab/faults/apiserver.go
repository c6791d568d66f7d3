package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// dashboardPeriod is how often a client that is not greedy asks.
const dashboardPeriod = 500 * time.Millisecond

func firstAPIServer(lab *cluster.Lab) cluster.Component {
	return lab.Options.Components(cluster.APIServer)[0]
}

// reconfigure restarts the first API server with other flags, or with its own,
// and waits until it serves.
func reconfigure(ctx context.Context, lab *cluster.Lab, flags map[string]string) error {
	c := firstAPIServer(lab)
	if err := lab.Reconfigure(ctx, c, flags); err != nil {
		return err
	}
	if err := lab.WaitReady(ctx, c); err != nil {
		return err
	}
	// While it was away others lost their leases and ended. That is past when
	// the fault itself is looked at.
	if err := lab.WaitHealthy(ctx); err != nil {
		return err
	}
	return lab.Forget(ctx)
}
