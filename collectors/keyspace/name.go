package keyspace

import (
	"strings"
)

// A Group is what keys are counted under.
type Group struct {
	Resource  string `json:"resource"`            // "pods", "certificates.cert-manager.io"; of other keys their first parts
	Namespace string `json:"namespace,omitempty"` // with a depth of 2, of what has one
	Prefix    string `json:"prefix"`              // of the keys; ends in a slash, or is the one key
}

// roots are under what Kubernetes and OpenShift keep their objects. Others are
// set by --etcd-prefix, and given to the scan as its prefix. k3s uses the first.
var roots = []string{"/registry/", "/kubernetes.io/", "/openshift.io/"}

// groupOf tells what a key is counted under. Under a root the parts of a key
// are the resource, the namespace if it has one, and the name; of a custom
// resource, and of some others, the group comes before the resource.
func groupOf(key, prefix string, depth int) Group {
	root := ""
	for _, r := range roots {
		if strings.HasPrefix(key, r) {
			root = r
		}
	}
	if root == "" && strings.HasSuffix(prefix, "/") && len(prefix) > 1 && strings.HasPrefix(key, prefix) {
		root = prefix
	}
	if root == "" {
		return other(key, depth)
	}
	parts := strings.Split(key[len(root):], "/")
	n := 1 // parts that name the resource
	name := parts[0]
	switch {
	case len(parts) > 2 && strings.Contains(parts[0], "."):
		n, name = 2, parts[1]+"."+parts[0]
	case len(parts) > 2 && parts[0] == "services" && (parts[1] == "specs" || parts[1] == "endpoints"):
		n, name = 2, map[string]string{"specs": "services", "endpoints": "endpoints"}[parts[1]]
	case parts[0] == "minions":
		name = "nodes"
	}
	if len(parts) <= n { // a key where a resource was expected
		return Group{Resource: key, Prefix: key}
	}
	g := Group{Resource: name, Prefix: root + strings.Join(parts[:n], "/") + "/"}
	if depth > 1 && len(parts) >= n+2 {
		g.Namespace = parts[n]
		g.Prefix += parts[n] + "/"
	}
	return g
}

// other groups a key by its first parts.
func other(key string, depth int) Group {
	end := 0
	for i := 0; i < depth; i++ {
		from := end
		if from == 0 && strings.HasPrefix(key, "/") {
			from = 1
		}
		n := strings.IndexByte(key[from:], '/')
		if n < 0 {
			break
		}
		end = from + n + 1
	}
	if end == 0 {
		return Group{Resource: key, Prefix: key}
	}
	return Group{Resource: key[:end], Prefix: key[:end]}
}

// end is the first key behind a group.
func (g Group) end() string {
	if !strings.HasSuffix(g.Prefix, "/") {
		return g.Prefix + "\x00"
	}
	return prefixEnd(g.Prefix)
}

// prefixEnd is the first key that is behind all with a prefix.
func prefixEnd(p string) string {
	b := []byte(p)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return "\x00"
}
