package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// effectTimeout is how long a fault may take to show.
const effectTimeout = 3 * time.Minute

// unready waits for the static pods of components that are down.
func unready(ctx context.Context, lab *cluster.Lab, components ...cluster.Component) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	for _, c := range components {
		pod, err := client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, c.Name(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return fmt.Errorf("pod %s is still ready", c.Name())
			}
		}
	}
	return nil
}

// leaseExpired waits for the lease of a component to run out.
func leaseExpired(ctx context.Context, lab *cluster.Lab, kind cluster.Kind) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(kind), metav1.GetOptions{})
	if err != nil {
		return err
	}
	expiry := lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)
	if left := time.Until(expiry); left > 0 {
		return fmt.Errorf("lease %s runs out in %s", kind, left.Round(time.Second))
	}
	return nil
}

// ledFor waits for an instance that has taken the component's lease after a
// moment, has held it for that long, and renews it.
func ledFor(ctx context.Context, lab *cluster.Lab, kind cluster.Kind, after time.Time, long time.Duration) error {
	if err := leaseExpired(ctx, lab, kind); err == nil {
		return fmt.Errorf("lease %s is not renewed", kind)
	}
	client, err := lab.Client()
	if err != nil {
		return err
	}
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, string(kind), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.AcquireTime.Time.Before(after) {
		return fmt.Errorf("lease %s is still the former leader's", kind)
	}
	if age := time.Since(lease.Spec.AcquireTime.Time); age < long {
		return fmt.Errorf("lease %s was taken %s ago", kind, age.Round(time.Second))
	}
	return nil
}

// pendingPod waits for a pod of a deployment that is pending for that long, and
// of which a scheduler has said (False), or has not said (Unknown), why.
func pendingPod(ctx context.Context, lab *cluster.Lab, deployment string, age time.Duration, scheduled metav1.ConditionStatus) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		got := metav1.ConditionUnknown
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled {
				got = metav1.ConditionStatus(c.Status)
			}
		}
		if old := time.Since(pod.CreationTimestamp.Time); got == scheduled && old >= age {
			return nil
		}
	}
	return fmt.Errorf("none of %d pods of %s is pending that way for %s", len(pods.Items), deployment, age)
}

// ignoredDeployment waits for a deployment that no controller has looked at for
// longer than ktriage thinks usual.
func ignoredDeployment(ctx context.Context, lab *cluster.Lab, name string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	d, err := client.AppsV1().Deployments(cluster.WorkloadNamespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if age := time.Since(d.CreationTimestamp.Time); d.Status.ObservedGeneration != 0 || age < unobservedFor {
		return fmt.Errorf("deployment %s is %s old, its observed generation %d", name, age.Round(time.Second), d.Status.ObservedGeneration)
	}
	return nil
}

// ignoredReplicaSet is ignoredDeployment for the ReplicaSet of a deployment.
func ignoredReplicaSet(ctx context.Context, lab *cluster.Lab, deployment string) error {
	sets, err := replicaSets(ctx, lab, deployment)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if set.Status.ObservedGeneration == 0 && time.Since(set.CreationTimestamp.Time) >= unobservedFor {
			return nil
		}
	}
	return fmt.Errorf("none of %d replica sets of %s has been ignored for %s", len(sets), deployment, unobservedFor)
}

func deploy(ctx context.Context, lab *cluster.Lab, name string, replicas int32, cpu string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	d := cluster.Deployment(cluster.WorkloadNamespace, name, replicas, cpu)
	if _, err := client.AppsV1().Deployments(d.Namespace).Create(ctx, d, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create deployment %s: %w", name, err)
	}
	return nil
}

// undeploy deletes a deployment. Its pods go with it once a controller manager
// works; the lab is not healthy before.
func undeploy(ctx context.Context, lab *cluster.Lab, name string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	err = client.AppsV1().Deployments(cluster.WorkloadNamespace).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete deployment %s: %w", name, err)
	}
	return nil
}
