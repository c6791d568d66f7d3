package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

// greedy are clients that list all pods from etcd, over and over.
const greedy = "greedy"

// turnedAway is how many rejected requests make an effect.
const turnedAway = 50

var apiServerOverload = Fault{
	Name:  "apiserver-overload",
	Doc:   "The API server may work at six requests at a time, and two dozen clients list all pods as fast as they can. Most of them are turned away.",
	Want:  Problem{Check: "apf-requests-rejected"},
	Or:    []Problem{{Check: "apf-seats-exhausted"}, {Check: "apf-inflight-near-limit"}},
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
		return cluster.Until(ctx, effectTimeout, "requests that are turned away", func(ctx context.Context) error {
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			if n := metrics.Sum("apiserver_flowcontrol_rejected_requests_total"); n < turnedAway {
				return fmt.Errorf("%.0f requests were turned away", n)
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
