package webhooks

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestWhatARuleTakesIn(t *testing.T) {
	namespaced := admissionv1.NamespacedScope
	rule := func(scope *admissionv1.ScopeType, group string, resources ...string) Hook {
		return Hook{Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{group}, Resources: resources, Scope: scope}}}}
	}
	for _, c := range []struct {
		name            string
		hook            Hook
		group, resource string
		want            bool
	}{
		{"the resource", rule(nil, "", "pods"), "", "pods", true},
		{"not its subresource", rule(nil, "", "pods"), "", "pods/binding", false},
		{"not of another group", rule(nil, "apps", "*"), "", "pods", false},
		{"a star is no subresource", rule(nil, "*", "*"), "", "pods/binding", false},
		{"two stars are all", rule(nil, "*", "*/*"), "", "pods/binding", true},
		{"two stars are resources too", rule(nil, "*", "*/*"), "", "pods", true},
		{"all subresources", rule(nil, "", "pods/*"), "", "pods/binding", true},
		{"all subresources, but not the resource", rule(nil, "", "pods/*"), "", "pods", false},
		{"that subresource of all", rule(nil, "*", "*/status"), "", "nodes/status", true},
		{"nodes are in no namespace", rule(&namespaced, "*", "*"), "", "nodes", false},
		{"pods are", rule(&namespaced, "*", "*"), "", "pods", true},
	} {
		if got := c.hook.Takes(c.group, c.resource, admissionv1.Create); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.hook.Takes(c.group, c.resource, admissionv1.Delete) {
			t.Errorf("%s: takes in another operation", c.name)
		}
	}
}

func TestWhatIsNotSaidIsWhatTheAPIServerTakes(t *testing.T) {
	h := hooks(&admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{{Name: "x", ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "a", Name: "b"}}}}})[0]
	if !h.Closed || h.Wait.Seconds() != 10 || h.Service.Port != 443 || !h.Namespaces.Matches(labels.Set{"a": "b"}) || !h.Objects.Empty() {
		t.Errorf("%+v", h)
	}
}

func TestBackendsAreAskedForInFewRequests(t *testing.T) {
	rs := askBackends([]Service{{"a", "x", 1}, {"b", "x", 1}, {"b", "y", 1}})
	want := []string{
		"kube:/api/v1/namespaces/a/services?fieldSelector=metadata.name%3Dx",
		"kube:/api/v1/namespaces/b/services",
		"kube:/apis/discovery.k8s.io/v1/endpointslices?labelSelector=kubernetes.io%2Fservice-name+in+%28x%2Cy%29",
	}
	for i, r := range rs {
		if i >= len(want) || r.URL != want[i] {
			t.Errorf("request %d: %s", i, r.URL)
		}
	}
	if len(rs) != len(want) || askBackends(nil) != nil {
		t.Error(rs)
	}
}

func TestBackendsThatWereNotAskedForAreNotKept(t *testing.T) {
	by := map[string]Backend{"a/x": {}}
	no := false
	addBackend(by, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "other"}})
	addBackend(by, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}})
	addBackend(by, &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x-1", Labels: map[string]string{discoveryv1.LabelServiceName: "x"}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"1"}}, {Addresses: []string{"2"}, Conditions: discoveryv1.EndpointConditions{Ready: &no}}}})
	if b := by["a/x"]; len(by) != 1 || !b.Exists || b.Ready != 1 || b.NotReady != 1 || b.Trouble(Service{"a", "x", 443}) != "" {
		t.Errorf("%+v", by)
	}
}
