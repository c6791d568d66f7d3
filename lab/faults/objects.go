package faults

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// object is one of which no typed client is at hand.
type object map[string]any

// post creates an object at the path of its collection. One that is there
// already is no error.
func post(ctx context.Context, lab *cluster.Lab, path string, o any) error {
	client, err := raw(lab)
	if err != nil {
		return err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	err = client.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create in %s: %w", path, err)
	}
	return nil
}

// remove deletes the object at path, if it is there.
func remove(ctx context.Context, lab *cluster.Lab, path string) error {
	client, err := raw(lab)
	if err != nil {
		return err
	}
	if err := client.Delete().AbsPath(path).Do(ctx).Error(); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

func raw(lab *cluster.Lab) (rest.Interface, error) {
	client, err := lab.Client()
	if err != nil {
		return nil, err
	}
	return client.Discovery().RESTClient(), nil
}

// deployPods creates a deployment of small pods that edit changes.
func deployPods(ctx context.Context, lab *cluster.Lab, name string, replicas int32, edit func(*corev1.PodSpec)) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	d := cluster.Deployment(cluster.WorkloadNamespace, name, replicas, "10m")
	edit(&d.Spec.Template.Spec)
	if _, err := client.AppsV1().Deployments(d.Namespace).Create(ctx, d, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create deployment %s: %w", name, err)
	}
	return nil
}

// failedCreate waits until the ReplicaSet of a deployment says that it could
// not create a pod.
func failedCreate(ctx context.Context, lab *cluster.Lab, deployment string) error {
	sets, err := replicaSets(ctx, lab, deployment)
	if err != nil {
		return err
	}
	for _, set := range sets {
		for _, c := range set.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
	}
	return fmt.Errorf("none of %d replica sets of %s failed to create a pod", len(sets), deployment)
}

func replicaSets(ctx context.Context, lab *cluster.Lab, deployment string) ([]appsv1.ReplicaSet, error) {
	client, err := lab.Client()
	if err != nil {
		return nil, err
	}
	list, err := client.AppsV1().ReplicaSets(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
