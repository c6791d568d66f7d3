package webhooks

import (
	"net/url"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/objects"
)

// The kinds of configurations, as kubectl takes them.
const (
	Validating = "validatingwebhookconfiguration"
	Mutating   = "mutatingwebhookconfiguration"
)

// A Service names the port of a Service that the API server calls.
type Service struct {
	Namespace, Name string
	Port            int32
}

// ID names the Service as an operator does.
func (s Service) ID() string { return s.Namespace + "/" + s.Name }

// A Caller says where the API server finds a webhook and whom it trusts there.
type Caller struct {
	Service Service // without a name if it is found by URL
	Host    string  // of the URL
	Bundle  certificates.Bundle
}

// A Hook is one webhook of a configuration.
type Hook struct {
	Kind   string // Validating or Mutating
	Config string // the configuration's name
	Name   string // its own, unique in its configuration and as a rule in the cluster
	Closed bool   // a request is refused if it cannot be called
	Wait   time.Duration
	Caller
	Rules      []admissionv1.RuleWithOperations
	Namespaces labels.Selector // of the labels of a request's namespace
	Objects    labels.Selector // of the labels of a request's object
	Conditions int             // further conditions in CEL, which are not evaluated here
}

// Target is the hook's configuration as a thing that is judged: "kubectl get"
// takes it as it stands.
func (h Hook) Target() collectors.Target {
	return collectors.Target{Component: collectors.Webhooks, Name: h.Kind + "/" + h.Config}
}

// Type is what metrics call the hook's kind.
func (h Hook) Type() string {
	if h.Kind == Mutating {
		return "admit"
	}
	return "validating"
}

// Configured is every admission webhook, in the order of the configurations.
var Configured = &collectors.Fact[[]Hook]{
	ID:      "webhooks.configured",
	Doc:     "the admission webhooks: what they take in, where they are and what happens if they are not",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		const group = "/apis/admissionregistration.k8s.io/v1/"
		return []collectors.Request{list(group + Validating + "s"), list(group + Mutating + "s")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Hook] {
		var by [2][]Hook // each list is in the order of names
		return collectors.Folder[[]Hook]{
			Add: func(request int, o objects.Object) { by[request] = append(by[request], hooks(o)...) },
			Done: func([]collectors.Answered) ([]Hook, error) {
				return append(by[0], by[1]...), nil
			},
		}
	},
}

func hooks(o objects.Object) []Hook {
	var out []Hook
	switch o := o.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			out = append(out, newHook(Hook{Kind: Validating, Config: o.Name, Name: w.Name, Rules: w.Rules, Conditions: len(w.MatchConditions)},
				w.ClientConfig, w.FailurePolicy, w.TimeoutSeconds, w.NamespaceSelector, w.ObjectSelector))
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			out = append(out, newHook(Hook{Kind: Mutating, Config: o.Name, Name: w.Name, Rules: w.Rules, Conditions: len(w.MatchConditions)},
				w.ClientConfig, w.FailurePolicy, w.TimeoutSeconds, w.NamespaceSelector, w.ObjectSelector))
		}
	}
	return out
}

// newHook fills in what the API server takes for what is not said; a live one
// says everything.
func newHook(h Hook, c admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType, seconds *int32, ns, obj *metav1.LabelSelector) Hook {
	h.Closed = policy == nil || *policy == admissionv1.Fail
	h.Wait = 10 * time.Second
	if seconds != nil {
		h.Wait = time.Duration(*seconds) * time.Second
	}
	cc := objects.ClientConfig{URL: c.URL, CABundle: c.CABundle}
	if s := c.Service; s != nil {
		cc.Service = &objects.ServiceReference{Namespace: s.Namespace, Name: s.Name, Port: s.Port}
	}
	h.Caller = newCaller(&cc)
	h.Namespaces, h.Objects = selector(ns), selector(obj)
	return h
}

func newCaller(c *objects.ClientConfig) Caller {
	out := Caller{Bundle: certificates.ReadBundle(c.CABundle)}
	if s := c.Service; s != nil {
		out.Service = Service{s.Namespace, s.Name, 443}
		if s.Port != nil {
			out.Service.Port = *s.Port
		}
	} else if c.URL != nil {
		if u, err := url.Parse(*c.URL); err == nil {
			out.Host = u.Host
		}
	}
	return out
}

// selector reads a selector. One that the API server would not read selects
// everything there; so it does here.
func selector(s *metav1.LabelSelector) labels.Selector {
	out, err := metav1.LabelSelectorAsSelector(s)
	if s == nil || err != nil {
		return labels.Everything()
	}
	return out
}

// Takes reports whether a write of objects of a resource, "pods" or
// "pods/binding", is sent to the webhook as far as its rules go.
func (h Hook) Takes(group, resource string, ops ...admissionv1.OperationType) bool {
	for _, r := range h.Rules {
		if has(r.APIGroups, group) && takesResource(r.Resources, resource) && takesOperation(r.Operations, ops) && takesScope(r.Scope, resource) {
			return true
		}
	}
	return false
}

// clusterScoped are the resources that ktriage asks about and that are in no
// namespace.
var clusterScoped = map[string]bool{"nodes": true, "namespaces": true, "clusterroles": true}

func takesScope(s *admissionv1.ScopeType, resource string) bool {
	if s == nil || *s == admissionv1.AllScopes {
		return true
	}
	res, _, _ := strings.Cut(resource, "/")
	return (*s == admissionv1.ClusterScope) == clusterScoped[res]
}

func has(patterns []string, s string) bool {
	for _, p := range patterns {
		if p == "*" || p == s {
			return true
		}
	}
	return false
}

// takesResource matches as the API server does: "*" is all resources without
// their subresources, "*/*" is everything, "pods/*" is pods' subresources and
// "*/scale" the scale of everything.
func takesResource(patterns []string, resource string) bool {
	res, sub, _ := strings.Cut(resource, "/")
	for _, p := range patterns {
		pr, ps, _ := strings.Cut(p, "/")
		switch {
		case p == "*/*":
			return true
		case (pr == "*" || pr == res) && (ps == sub || ps == "*" && sub != ""):
			return true
		}
	}
	return false
}

func takesOperation(rule, ops []admissionv1.OperationType) bool {
	for _, r := range rule {
		for _, o := range ops {
			if r == admissionv1.OperationAll || r == o {
				return true
			}
		}
	}
	return false
}

// writes are the operations of which something comes about.
var writes = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete}

// vital are the resources without which a cluster, or what runs on it, does not
// go on, those first that hurt most.
var vital = []struct{ group, resource string }{
	{"coordination.k8s.io", "leases"}, {"", "nodes"}, {"", "nodes/status"}, {"", "pods"}, {"", "pods/binding"}, {"", "pods/status"},
	{"", "endpoints"}, {"discovery.k8s.io", "endpointslices"}, {"", "namespaces"}, {"", "serviceaccounts"},
	{"apps", "replicasets"}, {"apps", "deployments"}, {"apps", "daemonsets"}, {"apps", "statefulsets"}, {"batch", "jobs"},
	{"", "services"}, {"", "configmaps"}, {"", "secrets"}, {"", "persistentvolumeclaims"}, {"rbac.authorization.k8s.io", "clusterroles"},
}

// Vital lists the resources that the webhook takes in and that a cluster, or
// what runs on it, does not go on without.
func (h Hook) Vital() []string {
	var out []string
	for _, v := range vital {
		if h.Takes(v.group, v.resource, writes...) {
			out = append(out, v.resource)
		}
	}
	return out
}

// Everything reports whether the webhook takes in every resource there is.
func (h Hook) Everything() bool {
	for _, r := range h.Rules {
		if has(r.APIGroups, "*") && (takesResource(r.Resources, "anything")) && takesOperation(r.Operations, writes) {
			for _, p := range r.Resources {
				if p == "*" || p == "*/*" {
					return true
				}
			}
		}
	}
	return false
}

// OptIn reports whether only objects are sent to the webhook that have a
// certain label: all others are out of its reach.
func (h Hook) OptIn() bool {
	rs, _ := h.Objects.Requirements()
	for _, r := range rs {
		switch r.Operator() {
		case "in", "=", "==", "exists":
			return true
		}
	}
	return false
}
