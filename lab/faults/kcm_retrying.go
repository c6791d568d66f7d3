package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	deploymentRole = "system:controller:deployment-controller"
	// stuckDeployments keep the queue of their controller busy with failing.
	stuckDeployments = 20
)

var kcmRetrying = Fault{
	Name: "kcm-retrying",
	Doc:  "One controller, that of deployments, has lost its rights. It tries the same deployments again and again; all other controllers work.",
	Want: Problem{Check: "kcm-retries-high"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := revoke(ctx, lab, deploymentRole); err != nil {
			return err
		}
		for i := range stuckDeployments {
			if err := deployPods(ctx, lab, fmt.Sprintf("stuck-%d", i), 1, func(*corev1.PodSpec) {}); err != nil {
				return err
			}
		}
		return nil
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "deployments without replicas", func(ctx context.Context) error {
			return ignoredDeployment(ctx, lab, "stuck-0")
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "kube-system", Name: "deployment-controller"}
		if err := grant(ctx, lab, deploymentRole, account); err != nil {
			return err
		}
		for i := range stuckDeployments {
			if err := undeploy(ctx, lab, fmt.Sprintf("stuck-%d", i)); err != nil {
				return err
			}
		}
		return nil
	},
}
