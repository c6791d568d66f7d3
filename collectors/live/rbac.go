package live

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// grant says which right a request to the Kubernetes API needs, as the command
// that makes a role of it.
func grant(verb collectors.Verb, path string) string {
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var group string
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return fmt.Sprintf("grant get on nonResourceURL %s: kubectl create clusterrole ktriage-%s --verb=get --non-resource-url=%s",
			path, slug(path), path)
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource, right := parts[0], "get"
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	if verb == collectors.List || len(parts) == 1 {
		right = "list"
	}
	return fmt.Sprintf("grant %s on %s: kubectl create clusterrole ktriage-%s --verb=%s --resource=%s",
		right, withGroup(resource, group), slug(resource), right, withGroup(resource, group))
}

// withGroup writes a resource as kubectl create role wants it: the group
// stands before the subresource.
func withGroup(resource, group string) string {
	r, sub, ok := strings.Cut(resource, "/")
	if ok {
		return r + group + "/" + sub
	}
	return r + group
}

func slug(s string) string {
	return strings.Trim(strings.NewReplacer("/", "-", ".", "-", "*", "all").Replace(s), "-")
}
