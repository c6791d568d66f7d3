package cluster

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Writer is a client that writes all the time, in the workload's namespace.
type Writer struct {
	Kubeconfig string
	// Events are written that often a second; a component that runs wild.
	Events int
	// Objects are created, changed and deleted that often a second: the
	// business of a busy cluster.
	Objects int
}

func (w *Writer) run(ctx context.Context) error {
	config, err := restConfig(w.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	do, rate := w.event, w.Events
	if rate == 0 {
		do, rate = w.object, w.Objects
	}
	if rate == 0 {
		return fmt.Errorf("a writer without a rate")
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	slots := make(chan struct{}, maxClients)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		select {
		case slots <- struct{}{}:
		default:
			continue // the server is slower than we are
		}
		go func() {
			defer func() { <-slots }()
			if err := do(ctx, client, n); err != nil && ctx.Err() == nil {
				log.Print(err)
			}
		}()
	}
}

func (w *Writer) event(ctx context.Context, client kubernetes.Interface, n int) error {
	now := metav1.Now()
	_, err := client.CoreV1().Events(WorkloadNamespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "wild-"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: WorkloadNamespace, Name: fmt.Sprintf("wild-%d", n%50)},
		Reason:         "Reconciled", Message: fmt.Sprintf("reconciled for the %dth time", n), Type: corev1.EventTypeNormal,
		Source: corev1.EventSource{Component: "wild-operator"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	return err
}

// lifetime of an object that a Writer makes: longer than it takes to place and
// start a pod.
const lifetime = 5 * time.Second

func (w *Writer) object(ctx context.Context, client kubernetes.Interface, n int) error {
	if n%2 == 0 {
		return w.pod(ctx, client)
	}
	maps := client.CoreV1().ConfigMaps(WorkloadNamespace)
	m, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "busy-"}, Data: map[string]string{"n": "0"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	m.Data["n"] = fmt.Sprint(n)
	if _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return maps.Delete(ctx, m.Name, metav1.DeleteOptions{})
}

func (w *Writer) pod(ctx context.Context, client kubernetes.Interface) error {
	pods := client.CoreV1().Pods(WorkloadNamespace)
	template := podTemplate("busy", "10m")
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "busy-", Labels: template.Labels}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(lifetime):
	}
	return pods.Delete(context.WithoutCancel(ctx), pod.Name, metav1.DeleteOptions{})
}
