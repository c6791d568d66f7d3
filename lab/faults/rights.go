package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// revoke deletes one of the bindings that the API server makes when it starts.
func revoke(ctx context.Context, lab *cluster.Lab, binding string) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	err = client.RbacV1().ClusterRoleBindings().Delete(ctx, binding, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete binding %s: %w", binding, err)
	}
	return nil
}

// grant makes it again: the role has the binding's name.
func grant(ctx context.Context, lab *cluster.Lab, binding string, subject rbacv1.Subject) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	b := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{
			Name:        binding,
			Labels:      map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"},
			Annotations: map[string]string{"rbac.authorization.kubernetes.io/autoupdate": "true"},
		},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: binding},
		Subjects: []rbacv1.Subject{subject},
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, b, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("bind %s: %w", binding, err)
	}
	return nil
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}
