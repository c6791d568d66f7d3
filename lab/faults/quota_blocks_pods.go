package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var quotaBlocksPods = Fault{
	Name: "quota-blocks-pods",
	Doc:  "A namespace's quota allows two pods, and it has more. A deployment created since then gets none; no controller is at fault.",
	Want: Problem{Check: "replicaset-failedcreate"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster.WorkloadNamespace, Name: "small"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
		}
		if _, err := client.CoreV1().ResourceQuotas(quota.Namespace).Create(ctx, quota, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create quota: %w", err)
		}
		return deploy(ctx, lab, "over-quota", 2, "10m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a replica set that creates no pods", func(ctx context.Context) error {
			return failedCreate(ctx, lab, "over-quota")
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		err = client.CoreV1().ResourceQuotas(cluster.WorkloadNamespace).Delete(ctx, "small", metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete quota: %w", err)
		}
		return undeploy(ctx, lab, "over-quota")
	},
}
