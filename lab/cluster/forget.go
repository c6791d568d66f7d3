package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Forget lets all processes look as if they had never crashed, and waits until
// their pods say so.
func (l *Lab) Forget(ctx context.Context) error {
	if err := l.Supervisor.Forget(ctx); err != nil {
		return err
	}
	client, err := l.Client()
	if err != nil {
		return err
	}
	return Until(ctx, bootTimeout, "pods without restarts", func(ctx context.Context) error {
		list, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "tier=control-plane"})
		if err != nil {
			return err
		}
		if got, want := len(list.Items), len(l.Options.Components()); got != want {
			return fmt.Errorf("%d of %d pods of the control plane", got, want)
		}
		for _, pod := range list.Items {
			if restarts(pod.Status) > 0 || conditionIs(pod.Status, corev1.PodReady) != corev1.ConditionTrue {
				return fmt.Errorf("pod %s has restarted or is not ready", pod.Name)
			}
		}
		return nil
	})
}
