package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var kcmControllerForbidden = Fault{
	Name:  "kcm-controller-forbidden",
	Doc:   "One controller of many, that of ReplicaSets, has lost its rights, and one new Deployment gets no pods. All else works, and hardly anything is refused.",
	Want:  Problem{Check: "kcm-client-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := revoke(ctx, lab, replicaSetRole); err != nil {
			return err
		}
		return deploy(ctx, lab, unobserved, 2, "10m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a replica set that nobody looks at", func(ctx context.Context) error {
			return ignoredReplicaSet(ctx, lab, unobserved)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: "replicaset-controller"}
		if err := grant(ctx, lab, replicaSetRole, account); err != nil {
			return err
		}
		return undeploy(ctx, lab, unobserved)
	},
}
