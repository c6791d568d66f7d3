package faults

import (
	"context"
	"errors"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settled is how long a controller manager must have led before ktriage judges
// how it works: a little over its two minutes. At first it looks at everything.
const settled = 125 * time.Second

var kcmThrottled = Fault{
	Name:  "kcm-throttled",
	Doc:   "Each controller may send two requests a second (--kube-api-qps=2), and a deployment asks for 200 pods: they wait for themselves.",
	Want:  Problem{Check: "kcm-client-throttled"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		restart := time.Now()
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, map[string]string{"kube-api-qps": "2", "kube-api-burst": "2"}); err != nil {
				return err
			}
		}
		err := cluster.Until(ctx, effectTimeout+settled, "a controller manager that has led for long", func(ctx context.Context) error {
			return ledFor(ctx, lab, cluster.ControllerManager, restart, settled)
		})
		if err != nil {
			return err
		}
		return deployPods(ctx, lab, "many", 200, func(*corev1.PodSpec) {})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "a replica set that is at work and slow", func(ctx context.Context) error {
			pods, err := client.CoreV1().Pods(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=many"})
			if err == nil && len(pods.Items) < 5 {
				err = errors.New("hardly a pod yet")
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
