package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
)

const guard = "webhooks/validatingwebhookconfiguration/guard"

func TestAWebhookWithoutBackendIsOneProblem(t *testing.T) {
	got := show(Diagnose([]checks.Finding{
		finding("apiserver-5xx-ratio", checks.Critical, "apiserver/cp-1", "code=500", "resource=pods", "verb=POST"),
		finding("deployment-not-progressing", checks.Warning, "controllers", "deployment=shop/web"),
		finding("kcm-client-errors", checks.Warning, "controllers/cp-1", "5xx"),
		finding("replicaset-failedcreate", checks.Critical, "controllers/shop/web-1", "by=webhook call", "webhook=guard.example.com", "deployment=shop/web"),
		finding("replicaset-failedcreate", checks.Warning, "controllers/shop/other-1", "by=quota"),
		finding("webhook-backend-missing", checks.Critical, guard, "webhook=guard.example.com", "takes=pods"),
		finding("webhook-failing-closed", checks.Critical, guard, "webhook=guard.example.com", "takes=pods"),
		finding("webhook-self-deadlock", checks.Critical, guard),
		finding("webhook-slow", checks.Warning, "webhooks/mutatingwebhookconfiguration/other"),
	}, Links))
	want := `critical webhook-backend-missing webhooks/validatingwebhookconfiguration/guard
  critical webhook-failing-closed webhooks/validatingwebhookconfiguration/guard
    critical apiserver-5xx-ratio apiserver/cp-1
      warning kcm-client-errors controllers/cp-1
    critical replicaset-failedcreate controllers/shop/web-1
      warning deployment-not-progressing controllers
  critical webhook-self-deadlock webhooks/validatingwebhookconfiguration/guard
warning replicaset-failedcreate controllers/shop/other-1
warning webhook-slow webhooks/mutatingwebhookconfiguration/other
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAWebhookExplainsOnlyWhatItTakesIn(t *testing.T) {
	for _, c := range []struct {
		name          string
		cause, effect checks.Finding
		explains      bool
	}{
		{"errors of what it takes in", finding("webhook-failing-closed", checks.Critical, guard, "takes=pods"), finding("apiserver-5xx-ratio", checks.Warning, "apiserver/cp-1", "resource=pods"), true},
		{"errors of something else", finding("webhook-failing-closed", checks.Critical, guard, "takes=pods"), finding("apiserver-5xx-ratio", checks.Warning, "apiserver/cp-1", "resource=leases"), false},
		{"a ReplicaSet that another webhook refuses", finding("webhook-backend-missing", checks.Critical, guard, "webhook=a"), finding("replicaset-failedcreate", checks.Critical, "controllers/shop/web-1", "webhook=b"), false},
		{"leases, if it takes them in", finding("webhook-backend-missing", checks.Critical, guard, "takes=leases"), finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler"), true},
		{"leases, if it does not", finding("webhook-backend-missing", checks.Critical, guard, "takes=pods"), finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler"), false},
		{"nodes' status, if it takes that in", finding("webhook-backend-missing", checks.Critical, guard, "takes=nodes/status"), finding("node-notready", checks.Warning, "nodes/n1"), true},
		{"bindings, if it takes them in", finding("webhook-slow", checks.Warning, guard, "takes=pods/binding"), finding("scheduler-attempt-latency", checks.Warning, "scheduler/cp-1"), true},
		{"waiting writes", finding("webhook-slow", checks.Warning, guard), finding("apiserver-webhook-latency-gap", checks.Warning, "apiserver/cp-1"), true},
		{"calls that time out are slow", finding("webhook-failing-closed", checks.Critical, guard), finding("webhook-slow", checks.Warning, guard), true},
		{"another webhook is slow", finding("webhook-failing-closed", checks.Critical, guard), finding("webhook-slow", checks.Warning, guard+"2"), false},
		{"a namespace that waits for the group", finding("apiservice-unavailable", checks.Warning, "webhooks/apiservice/x", "groupversion=metrics.k8s.io/v1beta1"), finding("kcm-namespace-stuck", checks.Warning, "controllers/a", "groupversion=metrics.k8s.io/v1beta1"), true},
		{"a namespace with a finalizer", finding("apiservice-unavailable", checks.Warning, "webhooks/apiservice/x", "groupversion=metrics.k8s.io/v1beta1"), finding("kcm-namespace-stuck", checks.Warning, "controllers/a", "by=finalizer"), false},
		{"a namespace that holds what is not converted", finding("conversion-webhook-failing", checks.Critical, "webhooks/x", "group=example.com"), finding("kcm-namespace-stuck", checks.Warning, "controllers/a", "group=example.com"), true},
		{"lists that are turned away", finding("conversion-webhook-failing", checks.Critical, "webhooks/x", "takes=widgets"), finding("apiserver-429", checks.Warning, "apiserver/cp-1", "resource=widgets"), true},
		{"one node among many", finding("nodes-mass-notready", checks.Critical, "nodes"), finding("node-notready", checks.Warning, "nodes/n1", "silent"), true},
		{"the lease of a node that is not ready", finding("node-notready", checks.Warning, "nodes/n1"), finding("node-lease-stale", checks.Warning, "nodes/n1"), true},
		{"the lease of another node", finding("node-notready", checks.Warning, "nodes/n1"), finding("node-lease-stale", checks.Warning, "nodes/n2"), false},
		{"kubelets that cannot write", finding("etcd-nospace-alarm", checks.Critical, "etcd"), finding("nodes-mass-notready", checks.Critical, "nodes"), true},
		{"kubelets, by one slow follower", finding("etcd-wal-fsync-slow", checks.Warning, "etcd/cp-3"), finding("nodes-mass-notready", checks.Critical, "nodes"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Diagnose([]checks.Finding{c.cause, c.effect}, Links)
			if folded := len(d.Problems) == 1; folded != c.explains || folded && d.Problems[0].Root.Check != c.cause.Check {
				t.Error(show(d))
			}
		})
	}
}
