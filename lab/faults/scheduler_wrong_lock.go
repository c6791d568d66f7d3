package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const batchScheduler = "batch-scheduler"

var schedulerWrongLock = Fault{
	Name: "scheduler-wrong-lock",
	Doc:  "A second scheduler, batch-scheduler, waits for the lock of the first and so never works. Pods that ask for it are not looked at.",
	Want: Problem{Check: "pod-pending-no-condition"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		path := filepath.Join(lab.Options.Dir, batchScheduler+".yaml")
		node := lab.Options.ControlPlanes - 1
		config := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q}
leaderElection: {leaderElect: true, resourceName: kube-scheduler, resourceNamespace: kube-system}
profiles: [{schedulerName: %s}]
`, lab.Options.SchedulerKubeconfig(node), batchScheduler)
		if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
			return err
		}
		if err := lab.StartScheduler(ctx, batchScheduler, node, path); err != nil {
			return err
		}
		return deployPods(ctx, lab, batchScheduler, 2, func(spec *corev1.PodSpec) { spec.SchedulerName = batchScheduler })
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods that wait for longer than any scheduler takes", func(ctx context.Context) error {
			return pendingPod(ctx, lab, batchScheduler, otherIgnored, metav1.ConditionUnknown)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, batchScheduler); err != nil {
			return err
		}
		return undeploy(ctx, lab, batchScheduler)
	},
}
