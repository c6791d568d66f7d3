package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

const (
	// starvedOff stays below etcd's election timeout of 1 s: the leader is late
	// all the time, and stays.
	starvedOff = 400 * time.Millisecond
	starvedOn  = 40 * time.Millisecond
	// lateHeartbeats must have been counted: a follower's share of a window of
	// ktriage's.
	lateHeartbeats = 20
)

var etcdCPUStarved = Fault{
	Name:  "etcd-cpu-starved",
	Doc:   "The etcd leader, cp-1's member, runs for 40 ms and waits for the processor for 400 ms, in turns. Its disk is fine.",
	Want:  Problem{Check: "etcd-heartbeat-failures", Target: "etcd/cp-1"},
	Or:    []Problem{{Check: "etcd-leader-flapping"}},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Starve(ctx, lab.Options.Components(cluster.Etcd)[0], starvedOff, starvedOn)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		first := -1.0
		return cluster.Until(ctx, effectTimeout, "heartbeats that are late", func(ctx context.Context) error {
			metrics, err := lab.EtcdMetrics(ctx, 0)
			if err != nil {
				return err
			}
			late := metrics["etcd_server_heartbeat_send_failures_total"]
			if first < 0 {
				first = late
			}
			if late-first < lateHeartbeats {
				return fmt.Errorf("%.0f heartbeats were late", late-first)
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Nourish(ctx, lab.Options.Components(cluster.Etcd)[0])
	},
}
