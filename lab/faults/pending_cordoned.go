package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pendingCordoned = Fault{
	Name: "pending-cordoned",
	Doc:  "Somebody cordoned all workers and forgot to undo it. What was deployed since then finds no node.",
	Want: Problem{Check: "scheduler-unschedulable-pods"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := cordonWorkers(ctx, lab, true); err != nil {
			return err
		}
		return deploy(ctx, lab, "pending-cordoned", 2, "10m")
	},
	Wait: waitPending("pending-cordoned", metav1.ConditionFalse),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := cordonWorkers(ctx, lab, false); err != nil {
			return err
		}
		return undeploy(ctx, lab, "pending-cordoned")
	},
}

func cordonWorkers(ctx context.Context, lab *cluster.Lab, on bool) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on)
	for i := range lab.Options.Workers {
		name := lab.Options.WorkerName(i)
		if _, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("cordon %s: %w", name, err)
		}
	}
	return nil
}
