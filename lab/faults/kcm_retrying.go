package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	replicaSetRole = "system:controller:replicaset-controller"
	// orphans are replica sets without an owner, of which one is created each
	// second; each is retried a dozen times in its first half minute.
	orphans    = "orphans"
	orphanSets = `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"generateName":"orphan-","labels":{"lab":"` + orphans + `"}},` +
		`"spec":{"replicas":1,"selector":{"matchLabels":{"lab":"` + orphans + `"}},"template":{"metadata":{"labels":{"lab":"` + orphans + `"}},` +
		`"spec":{"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10"}]}}}}`
)

var kcmRetrying = Fault{
	Name: "kcm-retrying",
	Doc:  "One controller, that of ReplicaSets, has lost its rights. It tries the same ones again and again, and new ones come in; all other controllers work.",
	Want: Problem{Check: "kcm-client-errors"},
	Or:   []Problem{{Check: "kcm-retries-high"}},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		err := cluster.Until(ctx, effectTimeout+settled, "a controller manager that has led for long", func(ctx context.Context) error {
			return ledFor(ctx, lab, cluster.ControllerManager, time.Time{}, settled)
		})
		if err != nil {
			return err
		}
		if err := revoke(ctx, lab, replicaSetRole); err != nil {
			return err
		}
		return lab.StartHelper(ctx, orphans, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.Kubeconfig(), Path: "/apis/apps/v1/namespaces/" + cluster.WorkloadNamespace + "/replicasets",
			Body: orphanSets, Count: 1, Pause: time.Second,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "replica sets without pods", func(ctx context.Context) error {
			sets, err := client.AppsV1().ReplicaSets(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "lab=" + orphans})
			if err != nil {
				return err
			}
			ignored := 0
			for _, set := range sets.Items {
				if set.Status.ObservedGeneration == 0 {
					ignored++
				}
			}
			if ignored < 20 {
				return fmt.Errorf("%d of %d replica sets have no status", ignored, len(sets.Items))
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, orphans); err != nil {
			return err
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		err = client.AppsV1().ReplicaSets(cluster.WorkloadNamespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "lab=" + orphans})
		if err != nil {
			return fmt.Errorf("delete replica sets: %w", err)
		}
		return grant(ctx, lab, replicaSetRole, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: "replicaset-controller"})
	},
}
