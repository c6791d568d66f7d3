package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// learning is longer than a learner needs.
const learning = 5*time.Minute + 10*time.Second

var etcdLearner = Fault{
	Name:  "etcd-learner",
	Doc:   "Cp-3's member of etcd was added as a learner and never made a voter: only two can vote.",
	Want:  Problem{Check: "etcd-learner-stuck", Target: "etcd/cp-3"},
	Scars: true,
	Slow:  true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.MoveEtcdLeader(ctx, 0); err != nil {
			return err
		}
		return relearn(ctx, lab, lab.Options.Components(cluster.Etcd)[2])
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		learner := lab.Options.Components(cluster.Etcd)[2]
		return cluster.Until(ctx, learning+effectTimeout, "an old learner", func(ctx context.Context) error {
			metrics, err := lab.EtcdMetrics(ctx, learner.Node)
			if err != nil {
				return err
			}
			state, err := lab.Supervisor.State(ctx, learner.Name())
			if err != nil {
				return err
			}
			if up := time.Since(state.StartedAt); metrics["etcd_server_is_learner"] != 1 || up < learning {
				return fmt.Errorf("%s is up for %s", learner.Name(), up.Round(time.Second))
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		id, err := memberID(ctx, lab, lab.Options.NodeName(2))
		if err != nil {
			return err
		}
		_, err = lab.Etcdctl(ctx, "member", "promote", id)
		return err
	},
}

// relearn takes a member out and lets it join again, as a learner.
func relearn(ctx context.Context, lab *cluster.Lab, c cluster.Component) error {
	id, err := memberID(ctx, lab, c.NodeName())
	if err != nil {
		return err
	}
	if err := lab.Kill(ctx, c); err != nil {
		return err
	}
	if _, err := lab.Etcdctl(ctx, "member", "remove", id); err != nil {
		return err
	}
	if err := lab.WipeEtcd(c.Node); err != nil {
		return err
	}
	if _, err := lab.Etcdctl(ctx, "member", "add", c.NodeName(), "--learner", "--peer-urls="+lab.Options.EtcdPeerURL(c.Node)); err != nil {
		return err
	}
	return lab.Reconfigure(ctx, c, map[string]string{"initial-cluster-state": "existing"})
}

func memberID(ctx context.Context, lab *cluster.Lab, name string) (string, error) {
	out, err := lab.Etcdctl(ctx, "member", "list")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Split(line, ", "); len(fields) > 2 && fields[2] == name {
			return fields[0], nil
		}
	}
	return "", fmt.Errorf("no member %s", name)
}
