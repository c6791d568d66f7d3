// Package rights tells which rights in a cluster a request needs. It is the one
// place that knows: roles, and what a refusal tells to grant, follow from it.
package rights

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Right is one verb on one thing, as RBAC has it.
type Right struct {
	Verb      string // "get", "list", "create"
	Path      string // of what is no resource: "/metrics"; then all below is empty
	Group     string // of the API; empty for the core group
	Resource  string // with its subresource: "pods/portforward"
	Name      string // of the only object that is wanted; empty for all
	Namespace string // empty for all, and for what is in none
}

// Compare orders rights: resources by group and name, then paths.
func Compare(a, b Right) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb))
}

// Covers reports whether who has r has o too.
func (r Right) Covers(o Right) bool {
	return r.Verb == o.Verb && r.Path == o.Path && r.Group == o.Group && r.Resource == o.Resource &&
		(r.Name == "" || r.Name == o.Name) && (r.Namespace == "" || r.Namespace == o.Namespace)
}

// Of returns the rights that a request needs, by whichever of its ways it is
// answered. What needs other credentials than a kubeconfig's, or none, needs no
// right.
func Of(r collectors.Request) []Right {
	var out []Right
	for _, u := range append([]string{r.URL}, r.Or...) {
		out = append(out, of(r.Verb, u)...)
	}
	slices.SortFunc(out, Compare)
	return slices.Compact(out)
}

func of(v collectors.Verb, raw string) []Right {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	switch u.Scheme {
	case "kube", "apiserver":
		if v == collectors.Review && u.Query().Has("as") {
			return []Right{{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}}
		}
		if v == collectors.Greet || v == collectors.Review {
			return nil // whoever connects may; everybody may ask about himself
		}
		return []Right{ofPath(v, u.Path)}
	case "pod+http", "pod+https":
		// The WebSocket of a port-forward is a GET that the API server takes for a
		// create as well; before 1.35 for a get alone.
		out := []Right{
			{Verb: "create", Resource: "pods/portforward", Namespace: u.Host},
			{Verb: "get", Resource: "pods/portforward", Namespace: u.Host},
		}
		if _, path, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); ok && u.Scheme == "pod+https" && v != collectors.Greet {
			out = append(out, Right{Verb: "get", Path: "/" + path}) // the component asks the API server whether the user may
		}
		return out
	}
	return nil
}

// ofPath is the right to read a path of the Kubernetes API.
func ofPath(v collectors.Verb, path string) Right {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var r Right
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Group, parts = parts[1], parts[3:]
	default:
		return Right{Verb: "get", Path: path}
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource, r.Verb = parts[0], "get"
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Resource += "/" + parts[2]
		if r.Resource == "pods/log" {
			r.Name = "" // pods come and go
		}
	}
	if v == collectors.List || len(parts) == 1 {
		r.Verb, r.Name = "list", ""
	}
	return r
}

// Reduce sorts rights and drops those that another covers.
func Reduce(rs []Right) []Right {
	rs = slices.Clone(rs)
	slices.SortFunc(rs, Compare)
	rs = slices.Compact(rs)
	return slices.DeleteFunc(slices.Clone(rs), func(r Right) bool {
		return slices.ContainsFunc(rs, func(o Right) bool { return o != r && o.Covers(r) })
	})
}

// String is the right in words: "list pods in kube-system".
func (r Right) String() string {
	if r.Path != "" {
		return r.Verb + " " + r.Path
	}
	s := r.Verb + " " + WithGroup(r.Resource, r.Group)
	if r.Name != "" {
		s += " " + r.Name
	}
	if r.Namespace != "" {
		s += " in " + r.Namespace
	}
	return s
}

// WithGroup writes a resource as kubectl takes it: the group stands before the
// subresource.
func WithGroup(resource, group string) string {
	if group == "" {
		return resource
	}
	name, sub, ok := strings.Cut(resource, "/")
	if ok {
		return name + "." + group + "/" + sub
	}
	return name + "." + group
}
