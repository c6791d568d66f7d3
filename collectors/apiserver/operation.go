package apiserver

import (
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// An Operation is one kind of request: what is done to which resource.
type Operation struct {
	Verb        string // "GET", "LIST", "POST", "APPLY", …
	Group       string
	Resource    string
	Subresource string // of a request for no resource, its path: "/readyz"
}

// String names the operation as an operator would: "PUT leases.coordination.k8s.io",
// "POST pods/binding", "GET /readyz".
func (o Operation) String() string {
	r := o.Resource
	if r == "" {
		return o.Verb + " " + o.Subresource
	}
	if o.Group != "" {
		r += "." + o.Group
	}
	if o.Subresource != "" {
		r += "/" + o.Subresource
	}
	return o.Verb + " " + r
}

// Of names the resource: "pods", "leases.coordination.k8s.io".
func (o Operation) Of() string {
	if o.Group == "" {
		return o.Resource
	}
	return o.Resource + "." + o.Group
}

// Stored reports whether the request is for something that the API servers keep
// in their own store. Reviews and tokens are answered and forgotten.
func (o Operation) Stored() bool {
	return o.Resource != "" && !o.LongRunning() && !o.Aggregated() && o.Subresource != "token" &&
		o.Group != "authentication.k8s.io" && o.Group != "authorization.k8s.io"
}

// operationLabels are the labels that tell an Operation.
var operationLabels = []string{"verb", "group", "resource", "subresource"}

func operationOf(x metrics.Series) Operation {
	return Operation{Verb: x.Get("verb"), Group: x.Get("group"), Resource: x.Get("resource"), Subresource: x.Get("subresource")}
}

// streams are the subresources behind which stands a connection that lives as
// long as its client wants, whatever the verb. Source: kubernetes-mixin
// (proxy|attach|log|exec|portforward).
var streams = []string{"proxy", "attach", "log", "exec", "portforward"}

// LongRunning reports whether the request lasts as long as its client wants, so
// that neither its duration nor how it ended says anything about the API server.
func (o Operation) LongRunning() bool {
	switch o.Verb {
	case "WATCH", "WATCHLIST", "CONNECT":
		return true
	}
	return slices.Contains(streams, o.Subresource)
}

// Health reports whether the request is for a health endpoint: those answer 500
// as long as an instance starts, which is what they are for.
func (o Operation) Health() bool {
	return o.Resource == "" && (strings.HasPrefix(o.Subresource, "/healthz") || strings.HasPrefix(o.Subresource, "/livez") || strings.HasPrefix(o.Subresource, "/readyz"))
}

// Write reports whether the request changes one object. A DELETECOLLECTION
// takes as long as what it deletes is much, so it is none.
func (o Operation) Write() bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, o.Verb)
}

// Changes reports whether the request changes any objects.
func (o Operation) Changes() bool { return o.Write() || o.Verb == "DELETECOLLECTION" }

// Read reports whether the request reads objects.
func (o Operation) Read() bool { return o.Verb == "GET" || o.Verb == "LIST" }

// builtIn are the API groups that kube-apiserver itself serves from etcd, over
// time. Kubernetes' SLOs are about these; CRDs and aggregated APIs depend on
// what others run.
var builtIn = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch",
	"certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
	"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "resource.k8s.io",
	"scheduling.k8s.io", "settings.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// InSLO reports whether Kubernetes' latency SLOs are about the request: it is
// for a resource of a built-in group that is stored, and is not long-running.
// Reviews of tokens and of access are not stored.
func (o Operation) InSLO() bool {
	return o.Resource != "" && !o.LongRunning() && slices.Contains(builtIn, o.Group)
}

// Aggregated reports whether the group is one that another API server usually
// serves behind this one.
func (o Operation) Aggregated() bool {
	return o.Group == "metrics.k8s.io" || strings.HasSuffix(o.Group, ".metrics.k8s.io")
}
