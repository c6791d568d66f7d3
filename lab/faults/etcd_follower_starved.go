package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// followerOff makes round trips far longer than etcd's alerts allow, and is less
// than a follower waits before it wants to lead.
const followerOff = 800 * time.Millisecond

var etcdFollowerStarved = Fault{
	Name: "etcd-follower-starved",
	Doc:  "An etcd follower, cp-3's member, runs for 40 ms and waits for the processor for 800 ms, in turns. Only what it is asked itself is slow.",
	// Whether it is the way there or the member that is slow, its peers can't tell.
	Want: Problem{Check: "etcd-peer-rtt-high"},
	Or:   []Problem{{Check: "etcd-apply-slow", Target: "etcd/cp-3"}, {Check: "etcd-grpc-slow", Target: "etcd/cp-3"}},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return lab.Starve(ctx, lab.Options.Components(cluster.Etcd)[2], followerOff, starvedOn)
	},
	Wait: slowPeers,
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Nourish(ctx, lab.Options.Components(cluster.Etcd)[2])
	},
}
