package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maintenance = "example.com/maintenance"

var pendingTaint = Fault{
	Name: "pending-taint",
	Doc:  "Somebody tainted all workers for maintenance. What was deployed since then finds no node.",
	Want: Problem{Check: "scheduler-unschedulable-pods"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := taintWorkers(ctx, lab, true); err != nil {
			return err
		}
		return deploy(ctx, lab, "pending-taint", 2, "10m")
	},
	Wait: waitPending("pending-taint", metav1.ConditionFalse),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := taintWorkers(ctx, lab, false); err != nil {
			return err
		}
		return undeploy(ctx, lab, "pending-taint")
	},
}

// taintWorkers sets or removes the taint.
func taintWorkers(ctx context.Context, lab *cluster.Lab, on bool) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	for i := range lab.Options.Workers {
		name := lab.Options.WorkerName(i)
		err := cluster.Until(ctx, effectTimeout, "node "+name+" to be changed", func(ctx context.Context) error {
			node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == maintenance })
			if on {
				node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: maintenance, Effect: corev1.TaintEffectNoSchedule})
			}
			_, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("taint %s: %w", name, err)
		}
	}
	return nil
}
