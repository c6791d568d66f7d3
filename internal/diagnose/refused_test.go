package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// refusedScheduler is a scheduler that the API server refuses, that share of
// whose requests.
func refusedScheduler(share float64, marks ...string) checks.Finding {
	f := finding("kcm-client-errors", checks.Warning, "scheduler/cp-1", marks...)
	f.Numbers = map[string]float64{"unwelcome": share}
	return f
}

func TestARefusedComponentDoesNotRenewItsLease(t *testing.T) {
	gap := finding("scheduler-errors", checks.Unknown, "scheduler/cp-1")
	gap.Gap = collectors.Gapf(collectors.ServerError, `HTTP 500: "/metrics": Unauthorized`)
	other := finding("etcd-apply-slow", checks.Unknown, "etcd/cp-1")
	got := show(Diagnose([]checks.Finding{
		finding("client-cert-expiring", checks.Warning, "apiserver/cp-1", "expired"),
		refusedScheduler(1, "401"),
		finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler"),
		finding("lease-expired", checks.Critical, "leases/kube-system/kube-controller-manager"),
		gap, other,
	}, Links))
	want := `warning client-cert-expiring apiserver/cp-1
  warning kcm-client-errors scheduler/cp-1
    critical lease-expired leases/kube-system/kube-scheduler
    unknown scheduler-errors scheduler/cp-1
critical lease-expired leases/kube-system/kube-controller-manager
unknown etcd-apply-slow etcd/cp-1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACertificateThatExpiredRefusesNobodyForItsRights(t *testing.T) {
	d := Diagnose([]checks.Finding{finding("client-cert-expiring", checks.Warning, "apiserver/cp-1", "expired"), refusedScheduler(1, "403")}, Links)
	if len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestAFewRefusalsExplainNoLostLease(t *testing.T) {
	d := Diagnose([]checks.Finding{refusedScheduler(0.1, "403"), finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler")}, Links)
	if len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestASchedulerThatMayNotBindLeavesPods(t *testing.T) {
	d := Diagnose([]checks.Finding{refusedScheduler(0, "may-not-bind"), finding("pod-pending-no-condition", checks.Critical, "pods")}, Links)
	if len(d.Problems) != 1 || d.Problems[0].Root.Check != "kcm-client-errors" {
		t.Error(show(d))
	}
	d = Diagnose([]checks.Finding{refusedScheduler(0.1, "403"), finding("pod-pending-no-condition", checks.Critical, "pods")}, Links)
	if len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestAFailingQueueExplainsItsOwnObjectsOnly(t *testing.T) {
	lag := finding("replicaset-scale-lag", checks.Warning, "controllers", "queue=replicaset")
	if d := Diagnose([]checks.Finding{finding("kcm-retries-high", checks.Warning, "controllers/cp-1", "queue=replicaset"), lag}, Links); len(d.Problems) != 1 || d.Problems[0].Root.Check != "kcm-retries-high" {
		t.Error(show(d))
	}
	if d := Diagnose([]checks.Finding{finding("kcm-retries-high", checks.Warning, "controllers/cp-1", "queue=job"), lag}, Links); len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestAnUnreadableObjectKeepsItsCacheEmpty(t *testing.T) {
	decode := finding("apiserver-decode-errors", checks.Warning, "apiserver/cp-1")
	if d := Diagnose([]checks.Finding{finding("apiserver-readyz-check-failing", checks.Critical, "apiserver/cp-1", "check=informer-sync"), decode}, Links); len(d.Problems) != 1 || d.Problems[0].Root.Check != "apiserver-decode-errors" {
		t.Error(show(d))
	}
	if d := Diagnose([]checks.Finding{finding("apiserver-readyz-check-failing", checks.Critical, "apiserver/cp-1", "check=etcd"), decode}, Links); len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestWhoIsTurnedAwayIsOneOfMany(t *testing.T) {
	many := finding("apiserver-429", checks.Warning, "apiserver/cp-1")
	if d := Diagnose([]checks.Finding{many, finding("kcm-client-errors", checks.Warning, "controllers/cp-2", "429")}, Links); len(d.Problems) != 1 || d.Problems[0].Root.Check != "apiserver-429" {
		t.Error(show(d))
	}
	if d := Diagnose([]checks.Finding{many, finding("kcm-client-errors", checks.Warning, "controllers/cp-2", "403")}, Links); len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

func TestAComponentAsksItsOwnAPIServer(t *testing.T) {
	down := finding("apiserver-unreachable", checks.Warning, "apiserver/cp-2", "address=10.0.0.12:6443")
	gap := func(address string) checks.Finding {
		f := finding("kcm-client-errors", checks.Unknown, "scheduler/cp-2")
		f.Gap = collectors.Gapf(collectors.ServerError, `HTTP 500: "/metrics": Post "https://%s/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s": dial tcp: connection refused`, address)
		return f
	}
	if d := Diagnose([]checks.Finding{down, gap("10.0.0.12:6443")}, Links); len(d.Unknown) != 0 {
		t.Error(show(d))
	}
	if d := Diagnose([]checks.Finding{down, gap("10.0.0.11:6443")}, Links); len(d.Unknown) != 1 {
		t.Error(show(d))
	}
	late := func(node string) checks.Finding {
		f := finding("kcm-client-errors", checks.Unknown, "controllers/"+node)
		f.Gap = collectors.Gapf(collectors.Timeout, "pod+https://%s@kube-system/kube-controller-manager-%[1]s:10257/metrics by port-forward: connected, but no answer within 5s", node)
		return f
	}
	if d := Diagnose([]checks.Finding{down, late("cp-2"), late("cp-3")}, Links); len(d.Unknown) != 1 || d.Unknown[0].Target.Name != "cp-3" {
		t.Error(show(d))
	}
}

func TestAForbiddenControllerFillsItsQueue(t *testing.T) {
	retries := finding("kcm-retries-high", checks.Warning, "controllers/cp-2", "queue=replicaset")
	wait := finding("kcm-queue-latency", checks.Warning, "controllers/cp-2", "queue=replicaset")
	got := show(Diagnose([]checks.Finding{wait, retries, finding("kcm-client-errors", checks.Warning, "controllers/cp-2", "403")}, Links))
	want := `warning kcm-client-errors controllers/cp-2
  warning kcm-retries-high controllers/cp-2
    warning kcm-queue-latency controllers/cp-2
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wait.Marks = []string{"queue=job"}
	if d := Diagnose([]checks.Finding{wait, retries, finding("kcm-client-errors", checks.Warning, "controllers/cp-2", "5xx")}, Links); len(d.Problems) != 3 {
		t.Error(show(d))
	}
}
