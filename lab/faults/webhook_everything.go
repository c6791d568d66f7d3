package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
)

const everything = "everything"

var webhookEverything = Fault{
	Name:  "webhook-everything",
	Doc:   "A policy engine was removed and its webhook, which takes in every write of everything and fails closed, was left. No lease can be renewed either, so nobody leads.",
	Want:  Problem{Check: "webhook-backend-missing"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return post(ctx, lab, webhooksPath, object{
			"metadata": object{"name": everything},
			"webhooks": []object{{
				"name":                    "everything.example.com",
				"admissionReviewVersions": []string{"v1"},
				"sideEffects":             "None",
				"failurePolicy":           "Fail",
				"timeoutSeconds":          5,
				"clientConfig":            object{"service": object{"namespace": cluster.WorkloadNamespace, "name": everything}},
				"rules": []object{{
					"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*"}, "operations": []string{"*"},
				}},
			}},
		})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "leases that run out", func(ctx context.Context) error {
			for _, kind := range []cluster.Kind{cluster.Scheduler, cluster.ControllerManager} {
				if err := leaseExpired(ctx, lab, kind); err != nil {
					return fmt.Errorf("%s: %w", kind, err)
				}
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return remove(ctx, lab, webhooksPath+"/"+everything)
	},
}
