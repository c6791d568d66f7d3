package faults

import (
	"context"
	"fmt"
	"syscall"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var nodeOneSilent = Fault{
	Name: "node-one-silent",
	Doc:  "The kubelet of one node, cp-3, is dead. What runs there still runs, but nobody hears of it.",
	Want: Problem{Check: "node-notready", Target: "nodes/cp-3"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Supervisor.Hold(ctx, lab.Options.KubeletName(2), syscall.SIGKILL)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return waitNotReady(ctx, lab, lab.Options.NodeName(2))
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.Supervisor.Release(ctx, lab.Options.KubeletName(2))
	},
}

// waitNotReady waits until the node controller has given up nodes.
func waitNotReady(ctx context.Context, lab *cluster.Lab, names ...string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	return cluster.Until(ctx, effectTimeout, "nodes that are not ready", func(ctx context.Context) error {
		for _, name := range names {
			node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown {
					return fmt.Errorf("node %s is ready: %s", name, c.Status)
				}
			}
		}
		return nil
	})
}
