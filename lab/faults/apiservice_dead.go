package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
)

const apiServicePath = "/apis/apiregistration.k8s.io/v1/apiservices"

// deadGroup is an API group of which the server is gone.
const deadGroup = "v1beta1.metrics.k8s.io"

var apiServiceDead = Fault{
	Name: "apiservice-dead",
	Doc:  "The metrics server was removed, its APIService was not. A namespace that is deleted cannot be emptied: nobody knows what is in that group.",
	Want: Problem{Check: "apiservice-unavailable"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := post(ctx, lab, apiServicePath, object{
			"apiVersion": "apiregistration.k8s.io/v1",
			"kind":       "APIService",
			"metadata":   object{"name": deadGroup},
			"spec": object{
				"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
				"insecureSkipTLSVerify": true,
				"service":               object{"namespace": "kube-system", "name": "metrics-server"},
			},
		}); err != nil {
			return err
		}
		if err := post(ctx, lab, "/api/v1/namespaces", object{"metadata": object{"name": "leftover"}}); err != nil {
			return err
		}
		return remove(ctx, lab, "/api/v1/namespaces/leftover")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a namespace of which not all can be listed", func(ctx context.Context) error {
			return namespaceSays(ctx, lab, "leftover", corev1.NamespaceDeletionDiscoveryFailure, undiscovered)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := remove(ctx, lab, apiServicePath+"/"+deadGroup); err != nil {
			return err
		}
		return remove(ctx, lab, "/api/v1/namespaces/leftover")
	},
}
