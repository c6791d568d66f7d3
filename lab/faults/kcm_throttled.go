package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var kcmThrottled = Fault{
	Name:  "kcm-throttled",
	Doc:   "The controller managers may send one request in two seconds (--kube-api-qps=0.5), and a deployment asks for 60 pods: they wait for themselves.",
	Want:  Problem{Check: "kcm-client-throttled"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, map[string]string{"kube-api-qps": "0.5", "kube-api-burst": "1"}); err != nil {
				return err
			}
		}
		if err := lab.WaitReady(ctx, lab.Options.Components(cluster.ControllerManager)...); err != nil {
			return err
		}
		return deployPods(ctx, lab, "many", 60, func(*corev1.PodSpec) {})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "a replica set that is at work and slow", func(ctx context.Context) error {
			pods, err := client.CoreV1().Pods(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=many"})
			if err == nil && len(pods.Items) == 0 {
				err = errors.New("no pod yet")
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, nil); err != nil {
				return err
			}
		}
		return undeploy(ctx, lab, "many")
	},
}
