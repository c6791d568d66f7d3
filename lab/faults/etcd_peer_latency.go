package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

const (
	// peerDelay of each direction makes a round trip of 300 ms: twice the limit
	// of etcd's alerts, and too little for elections.
	peerDelay = 150 * time.Millisecond
	// slowTrips must have been measured between two members.
	slowTrips = 4
)

var etcdPeerLatency = Fault{
	Name: "etcd-peer-latency",
	Doc:  "A round trip between any two etcd members takes 300 ms. Their disks are fine, but each write waits for a majority.",
	Want: Problem{Check: "etcd-peer-rtt-high"},
	Lab:  func(o *cluster.Options) { o.PeerRelays = true },
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.DelayPeers(ctx, peerDelay)
	},
	Wait: slowPeers,
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return lab.DelayPeers(ctx, 0) },
}

// slowPeers waits until cp-1's member has measured slow round trips.
func slowPeers(ctx context.Context, lab *cluster.Lab) error {
	first := -1.0
	return cluster.Until(ctx, effectTimeout, "slow round trips in etcd's histograms", func(ctx context.Context) error {
		metrics, err := lab.EtcdMetrics(ctx, 0)
		if err != nil {
			return err
		}
		slow := metrics.Sum("etcd_network_peer_round_trip_time_seconds_count", "") - metrics.Sum("etcd_network_peer_round_trip_time_seconds_bucket", `le="0.2048"`)
		if first < 0 {
			first = slow
		}
		if slow-first < slowTrips {
			return fmt.Errorf("cp-1 has measured %.0f slow round trips", slow-first)
		}
		return nil
	})
}
