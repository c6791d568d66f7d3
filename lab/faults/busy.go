package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	busyClient = "busy-client"
	busyRate   = 10 // objects a second that are created and soon deleted
	busyPods   = 10 // at a time: the work is under way
)

var busy = Fault{
	Name: "busy",
	Doc:  "A client creates ten objects a second, pods and ConfigMaps, and deletes them soon.",
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.StartHelper(ctx, busyClient, 0, cluster.Helper{Writer: &cluster.Writer{Kubeconfig: lab.Options.Kubeconfig(), Objects: busyRate}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "a busy cluster", func(ctx context.Context) error {
			pods, err := client.CoreV1().Pods(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=busy"})
			if err == nil && len(pods.Items) < busyPods {
				err = fmt.Errorf("%d pods", len(pods.Items))
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, busyClient); err != nil {
			return err
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return client.CoreV1().Pods(cluster.WorkloadNamespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=busy"})
	},
}
