package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const extended = "extended"

var schedulerExtenderDead = Fault{
	Name:  "scheduler-extender-dead",
	Doc:   "The schedulers ask an extender about each pod, and nobody answers there: each attempt ends in an error, and no pod gets a node.",
	Want:  Problem{Check: "scheduler-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.Scheduler) {
			path := filepath.Join(lab.Options.Dir, c.Name()+".yaml")
			config := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q}
leaderElection: {leaderElect: true}
extenders: [{urlPrefix: "http://127.0.0.1:9", filterVerb: filter, httpTimeout: 2s}]
`, lab.Options.SchedulerKubeconfig(c.Node))
			if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
				return err
			}
			if err := lab.Reconfigure(ctx, c, map[string]string{"config": path}); err != nil {
				return err
			}
		}
		return deploy(ctx, lab, extended, 3, "10m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "pods of which the scheduler says that it failed", func(ctx context.Context) error {
			return pendingPod(ctx, lab, extended, ignored, metav1.ConditionFalse)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.Scheduler) {
			if err := lab.Reconfigure(ctx, c, nil); err != nil {
				return err
			}
		}
		return undeploy(ctx, lab, extended)
	},
}
