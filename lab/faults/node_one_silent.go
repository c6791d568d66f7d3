package faults

import (
	"context"
	"fmt"
	"syscall"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		if err := lab.Supervisor.Release(ctx, lab.Options.KubeletName(2)); err != nil {
			return err
		}
		return replaceUnready(ctx, lab, lab.Options.NodeName(2))
	},
}

// replaceUnready deletes the pods that the node controller called unready while
// nodes were silent, once those are back: kwok doesn't look at them again, as a
// kubelet would.
func replaceUnready(ctx context.Context, lab *cluster.Lab, nodes ...string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	return cluster.Until(ctx, effectTimeout, "nodes to come back", func(ctx context.Context) error {
		for _, name := range nodes {
			node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
					return fmt.Errorf("node %s is not ready", name)
				}
			}
			pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
			if err != nil {
				return err
			}
			for _, pod := range pods.Items {
				if pod.Annotations[corev1.MirrorPodAnnotationKey] != "" || podReady(pod) {
					continue
				}
				if err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
					return err
				}
			}
		}
		return nil
	})
}

func podReady(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
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
