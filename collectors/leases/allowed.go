package leases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Rights are what the API server says that a component may do, of what it cannot
// do its work without.
type Rights struct {
	User   string   // as whom the component is known by default
	Asked  int      // about how much
	Denied []string // "create pods/binding"; as somebody else: "create pods as replicaset-controller"
	Barred []string // the service accounts that the controllers act as and that are denied something: "replicaset-controller"
	Why    string   // what went wrong as it was looked up: a role that is bound and does not exist; mostly empty
}

// An act is what a component must be allowed. Controllers act as service
// accounts of their own where --use-service-account-credentials says so, as
// kubeadm has it, and then need little themselves.
type act struct {
	as                                      string // the service account; empty for the component itself
	verb, group, resource, sub, space, name string
}

// acts are the few without which nothing moves. Source: k8s.io/kubernetes,
// plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
var acts = map[cluster.Role][]act{
	cluster.RoleScheduler: {
		{verb: "update", group: "coordination.k8s.io", resource: "leases", space: "kube-system", name: "kube-scheduler"},
		{verb: "list", resource: "pods"},
		{verb: "list", resource: "nodes"},
		{verb: "create", resource: "pods", sub: "binding"},
		{verb: "patch", resource: "pods", sub: "status"},
	},
	cluster.RoleControllers: {
		{verb: "update", group: "coordination.k8s.io", resource: "leases", space: "kube-system", name: "kube-controller-manager"},
		{verb: "list", resource: "pods"},
		{verb: "create", resource: "serviceaccounts", sub: "token", space: "kube-system", name: "deployment-controller"},
		{as: "deployment-controller", verb: "create", group: "apps", resource: "replicasets"},
		{as: "replicaset-controller", verb: "create", resource: "pods"},
		{as: "endpointslice-controller", verb: "create", group: "discovery.k8s.io", resource: "endpointslices"},
		{as: "node-controller", verb: "patch", resource: "nodes", sub: "status"},
	},
}

const (
	controllersSpace = "kube-system"
	everybody        = "system:authenticated"
	maxWords         = 120 // bytes of a reply that are shown
)

// allowed asks the API server. It is asked in every run: a refusal shows in the
// component's own numbers only once the looks are over, and then it is too late
// to ask. It costs no more than its authorizer's memory.
func (e *Elected) allowed() *collectors.Fact[Rights] {
	user := "system:" + string(e.Role)
	return &collectors.Fact[Rights]{
		ID:    string(e.Component) + ".rights",
		Doc:   "whether the API server lets " + user + " do what the " + string(e.Role) + " cannot do without",
		Needs: []collectors.Any{cluster.WhatKind, cluster.Instances},
		Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
			if _, gap := cluster.InRole(s, e.Role); gap != nil {
				return nil, gap
			}
			return []collectors.Target{e.Self()}, nil
		},
		Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
			var out []collectors.Request
			for _, a := range e.acts(s) {
				out = append(out, collectors.Request{Verb: collectors.Review, URL: "kube:/?" + a.question(user).Encode()})
			}
			return out
		},
		Read: func(rs []collectors.Answered) (Rights, error) {
			out := Rights{User: user, Asked: len(rs)}
			for _, r := range rs {
				words, account, why, err := denied(r.Body)
				if err != nil {
					return Rights{}, err
				}
				if account != "" {
					out.Barred = append(out.Barred, account)
				}
				if words != "" {
					out.Denied = append(out.Denied, words)
					out.Why = cmp.Or(out.Why, why)
				}
			}
			return out, nil
		},
	}
}

// acts are those of the component, by whom it acts as. What a controller manager
// without service accounts of its own may do, its one user may.
func (e *Elected) acts(s *collectors.Snapshot) []act {
	is, _ := cluster.InRole(s, e.Role)
	var out []act
	for _, a := range acts[e.Role] {
		if len(is) > 0 && is[0].Flag("use-service-account-credentials", "false") != "true" {
			if a.resource == "serviceaccounts" {
				continue
			}
			a.as = ""
		}
		out = append(out, a)
	}
	return out
}

func (a act) question(user string) url.Values {
	q := url.Values{"as": {user}, "in": {everybody}, "verb": {a.verb}, "resource": {a.resource}}
	if a.as != "" {
		q.Set("as", "system:serviceaccount:"+controllersSpace+":"+a.as)
		q["in"] = []string{"system:serviceaccounts", "system:serviceaccounts:" + controllersSpace, everybody}
	}
	for k, v := range map[string]string{"group": a.group, "subresource": a.sub, "namespace": a.space, "name": a.name} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return q
}

// denied reads a review: what it asked about, in words, if the answer is no, and
// the service account, if it is about one. An authorizer that could not be asked
// is a no to the component as well.
func denied(body []byte) (words, account, why string, err error) {
	var r struct {
		Spec struct {
			User     string
			Resource *struct{ Verb, Resource, Subresource string } `json:"resourceAttributes"`
		}
		Status *struct {
			Allowed         bool
			EvaluationError string
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return "", "", "", fmt.Errorf("the reply is no review: %w", err)
	}
	switch {
	case r.Status == nil || r.Spec.Resource == nil:
		return "", "", "", collectors.Gapf(collectors.Malformed, "the reply says neither what was asked nor yes or no")
	case r.Status.Allowed:
		return "", "", "", nil
	}
	words = r.Spec.Resource.Verb + " " + r.Spec.Resource.Resource
	if r.Spec.Resource.Subresource != "" {
		words += "/" + r.Spec.Resource.Subresource
	}
	account, ok := strings.CutPrefix(r.Spec.User, "system:serviceaccount:"+controllersSpace+":")
	if !ok {
		account = ""
	} else {
		words += " as " + account
	}
	return collectors.OneLine(words, maxWords), collectors.OneLine(account, maxWords), collectors.OneLine(r.Status.EvaluationError, 2*maxWords), nil
}
