package controllers

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors"
)

func TestWhoRefuses(t *testing.T) {
	for _, c := range []struct {
		message string
		by      Refuser
		name    string
	}{
		{`Internal error occurred: failed calling webhook "check.gatekeeper.sh": failed to call webhook: Post "https://g.g.svc:443/v1/admit?timeout=3s": service "g" not found`, ByWebhookCall, "check.gatekeeper.sh"},
		{`admission webhook "v.example.com" denied the request: exceeded quota: mine, as I see it`, ByWebhook, "v.example.com"},
		{`pods "web-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`, ByQuota, "small"},
		{`pods "web-1" is forbidden: failed quota: compute: must specify limits.cpu for: app`, ByQuota, "compute"},
		{`pods "web-1" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, ByPodSecurity, "restricted:latest"},
		{`Error creating: pods "router-default-6dd4c95495-" is forbidden: unable to validate against any security context constraint: []`, ByPodSecurity, ""},
		{`pods "web-1" is forbidden: error looking up service account shop/web: serviceaccount "web" not found`, ByServiceAccount, "shop/web"},
		{`pods "web-1" is forbidden: maximum cpu usage per Container is 1, but limit is 2`, ByLimitRange, ""},
		{`pods is forbidden: User "system:serviceaccount:kube-system:replicaset-controller" cannot create resource "pods" in API group "" in the namespace "shop"`, ByPermission, ""},
		{`pods "web-1" is forbidden: ValidatingAdmissionPolicy 'demo' with binding 'b' denied request: no`, ByPolicy, "demo"},
		{`etcdserver: request timed out`, ByOther, ""},
	} {
		if by, name := Classify(c.message); by != c.by || name != c.name {
			t.Errorf("%s\n%s %q, want %s %q", c.message, by, name, c.by, c.name)
		}
	}
}

func TestAConditionThatIsLeftOverIsNoRefusal(t *testing.T) {
	set := func(have int32) *appsv1.ReplicaSet {
		n := int32(2)
		return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &n}, Status: appsv1.ReplicaSetStatus{Replicas: have,
			Conditions: []appsv1.ReplicaSetCondition{{Type: "ReplicaFailure", Status: "True", Reason: "FailedCreate", Message: "no", LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}}}
	}
	for have, want := range map[int32]int{2: 0, 3: 0, 1: 1} {
		r := &refusals{now: now}
		r.add(0, set(have))
		if len(r.out.By) != want {
			t.Errorf("with %d of 2 pods: %+v", have, r.out)
		}
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	r := &refusals{now: now}
	n := int32(1)
	for i := range 1000 {
		r.add(0, &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &n}, Status: appsv1.ReplicaSetStatus{
			Conditions: []appsv1.ReplicaSetCondition{{Type: "ReplicaFailure", Status: "True", Reason: "FailedCreate", Message: `failed calling webhook "` + strings.Repeat("x", i) + `"`}}}})
	}
	if len(r.out.By) > maxRefusals+1 {
		t.Error(len(r.out.By))
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(`failed calling webhook "x"`)
	f.Fuzz(func(_ *testing.T, s string) { Classify(s); collectors.OneLine(s, maxMessage) })
}
