package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

// greedy are clients that list all pods from etcd, over and over.
const greedy = "greedy"

// These make an effect: so many requests that wait, or that were rejected.
const (
	queued     = 10
	turnedAway = 50
)

var apiServerOverload = Fault{
	Name: "apiserver-overload",
	Doc:  "The API server may work at six requests at a time, and two dozen clients list all pods as fast as they can. They wait for each other, and others of their level for them.",
	Want: Problem{Check: "apf-seats-exhausted"},
	// What waits for a seat is told by the first look already, whose level is full by two.
	Or:    []Problem{{Check: "apf-requests-rejected"}, {Check: "apf-wait-latency"}},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := reconfigure(ctx, lab, map[string]string{"max-requests-inflight": "4", "max-mutating-requests-inflight": "2"}); err != nil {
			return err
		}
		return lab.StartHelper(ctx, greedy, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.TokenKubeconfig(), Path: "/api/v1/pods?resourceVersion=", Count: 24,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "requests that wait", func(ctx context.Context) error {
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			if n := metrics.Sum("apiserver_flowcontrol_current_inqueue_requests"); n < queued {
				return fmt.Errorf("%.0f requests wait", n)
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, greedy); err != nil {
			return err
		}
		return reconfigure(ctx, lab, nil)
	},
}
