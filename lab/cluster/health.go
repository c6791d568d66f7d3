package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/supervise"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// health returns nil if all of the lab is as it should be, else the first thing
// that is not. It knows what was asked for, so nothing missing passes as well.
func health(ctx context.Context, o Options, client kubernetes.Interface, procs []supervise.State) error {
	if err := processes(o, procs); err != nil {
		return err
	}
	for _, check := range []func(context.Context, Options, kubernetes.Interface) error{
		nodes, pods, leases, deployments, endpoints, namespaces,
	} {
		if err := check(ctx, o, client); err != nil {
			return err
		}
	}
	return nil
}

func processes(o Options, procs []supervise.State) error {
	states := map[string]supervise.State{}
	for _, s := range procs {
		states[s.Name] = s
	}
	for _, c := range o.Components() {
		if s := states[c.Name()]; !s.Running() || s.Held {
			return fmt.Errorf("process %s does not run: %s", c.Name(), s.LastExit)
		}
	}
	return nil
}

func nodes(ctx context.Context, o Options, client kubernetes.Interface) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	if got, want := len(list.Items), o.ControlPlanes+o.Workers; got != want {
		return fmt.Errorf("%d of %d nodes", got, want)
	}
	for _, node := range list.Items {
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				return fmt.Errorf("node %s is not ready: %s", node.Name, c.Message)
			}
		}
		if len(node.Status.Conditions) == 0 {
			return fmt.Errorf("node %s has no conditions yet", node.Name)
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key != controlPlaneLabel {
				return fmt.Errorf("node %s is tainted %s", node.Name, taint.Key)
			}
		}
	}
	return nil
}

func pods(ctx context.Context, o Options, client kubernetes.Interface) error {
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	static := map[string]bool{}
	for _, pod := range list.Items {
		if pod.Status.Phase != corev1.PodSucceeded && conditionIs(pod.Status, corev1.PodReady) != corev1.ConditionTrue {
			return fmt.Errorf("pod %s/%s is not ready", pod.Namespace, pod.Name)
		}
		if pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
			static[pod.Name] = true
		}
	}
	for _, c := range o.Components() {
		if !static[c.Name()] {
			return fmt.Errorf("pod %s is not there", c.Name())
		}
	}
	return nil
}

func leases(ctx context.Context, o Options, client kubernetes.Interface) error {
	for _, kind := range []Kind{ControllerManager, Scheduler} {
		lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(kind), metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("get lease: %w", err)
		}
		s := lease.Spec
		if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
			return fmt.Errorf("nobody holds lease %s", kind)
		}
		age := time.Since(s.RenewTime.Time)
		if age > time.Duration(*s.LeaseDurationSeconds)*time.Second {
			return fmt.Errorf("lease %s was last renewed %s ago", kind, age.Round(time.Second))
		}
	}
	return nil
}

func deployments(ctx context.Context, o Options, client kubernetes.Interface) error {
	list, err := client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list deployments: %w", err)
	}
	if len(list.Items) == 0 && !o.Bare {
		return fmt.Errorf("no deployments yet")
	}
	for _, d := range list.Items {
		if d.Status.AvailableReplicas != *d.Spec.Replicas || d.Status.UpdatedReplicas != *d.Spec.Replicas {
			return fmt.Errorf("deployment %s/%s has %d of %d replicas", d.Namespace, d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas)
		}
	}
	if o.Bare {
		return nil
	}
	set, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get daemon set: %w", err)
	}
	if want := int32(o.ControlPlanes + o.Workers); set.Status.NumberAvailable != want {
		return fmt.Errorf("daemon set kube-proxy has %d of %d pods", set.Status.NumberAvailable, want)
	}
	return nil
}

// endpoints checks that every API server has put itself behind the kubernetes
// service.
func endpoints(ctx context.Context, o Options, client kubernetes.Interface) error {
	slice, err := client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get endpoints of the kubernetes service: %w", err)
	}
	if got := len(slice.Endpoints); got != o.APIServers {
		return fmt.Errorf("%d of %d API servers behind the kubernetes service", got, o.APIServers)
	}
	return nil
}

func namespaces(ctx context.Context, o Options, client kubernetes.Interface) error {
	list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list namespaces: %w", err)
	}
	for _, ns := range list.Items {
		if ns.DeletionTimestamp != nil {
			return fmt.Errorf("namespace %s is terminating", ns.Name)
		}
	}
	return nil
}
