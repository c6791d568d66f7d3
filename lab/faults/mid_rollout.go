package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	rolling         = "rolling"
	rollingReplicas = 12
)

var midRollout = Fault{
	Name: "mid-rollout",
	Doc:  "A Deployment of 12 pods is being rolled out, a few pods at a time.",
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := deploy(ctx, lab, rolling, rollingReplicas, "20m"); err != nil {
			return err
		}
		if err := lab.WaitHealthy(ctx); err != nil {
			return err
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		// A pod counts as available after 15 s only, or this would be over at once.
		const patch = `{"spec":{"minReadySeconds":15,"template":{"metadata":{"annotations":{"version":"2"}}}}}`
		_, err = client.AppsV1().Deployments(cluster.WorkloadNamespace).Patch(ctx, rolling, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "a rollout under way", func(ctx context.Context) error {
			d, err := client.AppsV1().Deployments(cluster.WorkloadNamespace).Get(ctx, rolling, metav1.GetOptions{})
			if err == nil && (d.Status.UpdatedReplicas == 0 || d.Status.UpdatedReplicas == rollingReplicas || d.Status.ObservedGeneration < d.Generation) {
				err = fmt.Errorf("%d of %d pods are new", d.Status.UpdatedReplicas, rollingReplicas)
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return undeploy(ctx, lab, rolling) },
}
