package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	priorityPath = "/apis/scheduling.k8s.io/v1/priorityclasses"
	urgent       = "urgent"
	reluctant    = "reluctant"
)

var pendingPreemption = Fault{
	Name:   "pending-preemption",
	Doc:    "An urgent pod made another leave a full node, and waits for it to be gone. That takes a minute, as its owner asked for.",
	Inject: preempt,
	Wait:   waitPending("pending-preemption", metav1.ConditionFalse),
	Heal:   unpreempt,
}

// preempt fills the workers with pods that do not go, and lets an urgent one
// push one of them out.
func preempt(ctx context.Context, lab *cluster.Lab) error {
	if err := post(ctx, lab, priorityPath, object{"metadata": object{"name": urgent}, "value": 1000}); err != nil {
		return err
	}
	client, err := lab.Client()
	if err != nil {
		return err
	}
	for i := range lab.Options.Workers {
		pod := cluster.Deployment(cluster.WorkloadNamespace, reluctant, 1, mostOfWorker).Spec.Template
		_, err := client.CoreV1().Pods(cluster.WorkloadNamespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-%d", reluctant, i), Labels: pod.Labels, Finalizers: []string{"example.com/backup"},
			},
			Spec: pod.Spec,
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create pod: %w", err)
		}
	}
	err = cluster.Until(ctx, effectTimeout, "full nodes", func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + reluctant})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.Status.Phase != corev1.PodRunning {
				return fmt.Errorf("pod %s is %s", p.Name, p.Status.Phase)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return deployPods(ctx, lab, "pending-preemption", 1, func(spec *corev1.PodSpec) {
		spec.PriorityClassName = urgent
		spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(mostOfWorker)
	})
}

func unpreempt(ctx context.Context, lab *cluster.Lab) error {
	if err := undeploy(ctx, lab, "pending-preemption"); err != nil {
		return err
	}
	client, err := lab.Client()
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods(cluster.WorkloadNamespace)
	for i := range lab.Options.Workers {
		name := fmt.Sprintf("%s-%d", reluctant, i)
		if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete pod %s: %w", name, err)
		}
		_, err := pods.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("release pod %s: %w", name, err)
		}
	}
	return remove(ctx, lab, priorityPath+"/"+urgent)
}

// mostOfWorker leaves a worker too little CPU for a second pod that wants as
// much, and enough for those that are there.
const mostOfWorker = "6"
