package cluster

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// viewer is a user who may do what the built-in view role allows.
	viewer = "viewer"
	// monitor is the name of a service account, its namespace and its role.
	monitor = "ktriage"
	// tokenLifetime outlasts any lab.
	tokenLifetime = 30 * 24 * time.Hour
)

// bootstrapped waits for the roles that the API server makes when it first
// starts. Without them a controller manager exits and a scheduler sees nothing.
func bootstrapped(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.RbacV1().ClusterRoleBindings().Get(ctx, "system:kube-controller-manager", metav1.GetOptions{}); err != nil {
		return err
	}
	if _, err := client.RbacV1().Roles(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication-reader", metav1.GetOptions{}); err != nil {
		return err
	}
	_, err := client.SchedulingV1().PriorityClasses().Get(ctx, "system-node-critical", metav1.GetOptions{})
	return err
}

// grant gives the lab's users their rights and writes the token kubeconfig.
func (o Options) grant(ctx context.Context, client kubernetes.Interface) error {
	for _, b := range []struct {
		name, role string
		subject    rbacv1.Subject
	}{
		{"kubeadm:cluster-admins", "cluster-admin", group("kubeadm:cluster-admins")},
		{kubeletGroup, "cluster-admin", group(kubeletGroup)},
		{viewer, "view", rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: viewer}},
		{monitor, monitor, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: monitor, Name: monitor}},
	} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: b.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
			Subjects:   []rbacv1.Subject{b.subject},
		}
		if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); ignoreExists(err) != nil {
			return fmt.Errorf("bind %s: %w", b.name, err)
		}
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: monitor}, Rules: monitorRules()}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create role %s: %w", monitor, err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: monitor}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create namespace %s: %w", monitor, err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: monitor}}
	accounts := client.CoreV1().ServiceAccounts(monitor)
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create service account %s: %w", monitor, err)
	}
	seconds := int64(tokenLifetime / time.Second)
	token, err := accounts.CreateToken(ctx, monitor, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("request token of %s: %w", monitor, err)
	}
	return o.writeTokenKubeconfig(o.TokenKubeconfig(), monitor, token.Status.Token)
}

// monitorRules are the least that a tool needs to see a whole control plane:
// no secrets, no writes, port-forward for what listens on 127.0.0.1.
func monitorRules() []rbacv1.PolicyRule {
	read := []string{"get", "list"}
	return []rbacv1.PolicyRule{
		{Verbs: []string{"get"}, NonResourceURLs: []string{
			"/metrics", "/metrics/slis", "/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*", "/version",
		}},
		{Verbs: read, APIGroups: []string{""}, Resources: []string{
			"pods", "nodes", "events", "namespaces", "services", "persistentvolumeclaims", "resourcequotas", "configmaps", "serviceaccounts", "componentstatuses",
		}},
		{Verbs: []string{"get", "create"}, APIGroups: []string{""}, Resources: []string{"pods/portforward"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods/log", "nodes/metrics"}},
		{Verbs: read, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		{Verbs: read, Resources: []string{"*"}, APIGroups: []string{
			"apps", "batch", "autoscaling", "policy", "discovery.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io",
			"admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io", "certificates.k8s.io", "storage.k8s.io",
		}},
	}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}
}

// ignoreExists lets a boot step be done again.
func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
