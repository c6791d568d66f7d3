package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	held = "held"
	// heldFor is how long a namespace that a finalizer holds may stay before
	// ktriage makes much of it: a little over its two minutes. undiscovered is
	// the same for one of which not all can be listed.
	heldFor      = 125 * time.Second
	undiscovered = 65 * time.Second
)

var namespaceFinalizer = Fault{
	Name: "namespace-finalizer",
	Doc:  "A namespace that was deleted stays: an object in it has a finalizer that nobody takes away.",
	Want: Problem{Check: "kcm-namespace-stuck"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: held}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: held, Name: held, Finalizers: []string{"example.com/cleanup"}}}
		if _, err := client.CoreV1().ConfigMaps(held).Create(ctx, config, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create config map: %w", err)
		}
		return client.CoreV1().Namespaces().Delete(ctx, held, metav1.DeleteOptions{})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a namespace that is held", func(ctx context.Context) error {
			return namespaceSays(ctx, lab, held, corev1.NamespaceFinalizersRemaining, heldFor)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		_, err = client.CoreV1().ConfigMaps(held).Patch(ctx, held, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove the finalizer: %w", err)
		}
		err = client.CoreV1().Namespaces().Delete(ctx, held, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete namespace: %w", err)
		}
		return nil
	},
}

// namespaceSays waits for a condition of a namespace that has been being deleted
// for that long.
func namespaceSays(ctx context.Context, lab *cluster.Lab, name string, condition corev1.NamespaceConditionType, long time.Duration) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	namespace, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if d := namespace.DeletionTimestamp; d == nil || time.Since(d.Time) < long {
		return fmt.Errorf("namespace %s has not been deleted for %s", name, long)
	}
	for _, c := range namespace.Status.Conditions {
		if c.Type == condition && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("namespace %s does not say %s", name, condition)
}
