package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

const (
	flowControlPath = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	// scanner is a priority level with next to no seats and no queue, and the
	// schema that puts the greedy clients into it.
	scanner = "scanner"
)

var apiServerRejects = Fault{
	Name: "apiserver-rejects",
	Doc:  "Somebody gave a program that lists all pods a priority level with hardly a seat and no queue. It asks two dozen times at once, and most of that is answered 429; nobody else notices.",
	Want: Problem{Check: "apf-requests-rejected"},
	Or:   []Problem{{Check: "apf-seats-exhausted"}},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := post(ctx, lab, flowControlPath+"prioritylevelconfigurations", object{
			"metadata": object{"name": scanner},
			"spec": object{"type": "Limited", "limited": object{
				"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": object{"type": "Reject"},
			}},
		}); err != nil {
			return err
		}
		if err := post(ctx, lab, flowControlPath+"flowschemas", object{
			"metadata": object{"name": scanner},
			"spec": object{
				"priorityLevelConfiguration": object{"name": scanner},
				"matchingPrecedence":         500,
				"rules": []object{{
					"subjects": []object{{"kind": "ServiceAccount", "serviceAccount": object{"namespace": cluster.Monitor, "name": "*"}}},
					"resourceRules": []object{{
						"verbs": []string{"*"}, "apiGroups": []string{"*"}, "resources": []string{"*"}, "namespaces": []string{"*"}, "clusterScope": true,
					}},
				}},
			},
		}); err != nil {
			return err
		}
		return lab.StartHelper(ctx, greedy, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.TokenKubeconfig(), Path: "/api/v1/pods?resourceVersion=", Count: 24, Pause: dashboardPeriod / 10,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "requests that are turned away", func(ctx context.Context) error {
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			if n := metrics.Sum("apiserver_flowcontrol_rejected_requests_total", `priority_level="`+scanner+`"`); n < turnedAway {
				return fmt.Errorf("%.0f requests were turned away", n)
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, greedy); err != nil {
			return err
		}
		if err := remove(ctx, lab, flowControlPath+"flowschemas/"+scanner); err != nil {
			return err
		}
		return remove(ctx, lab, flowControlPath+"prioritylevelconfigurations/"+scanner)
	},
}
