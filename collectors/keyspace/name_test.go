package keyspace

import (
	"strings"
	"testing"
)

func TestGroupOf(t *testing.T) {
	for _, tc := range []struct {
		key, prefix string
		depth       int
		want        Group
	}{
		{"/registry/pods/shop/cart", "", 1, Group{"pods", "", "/registry/pods/"}},
		{"/registry/pods/shop/cart", "", 2, Group{"pods", "shop", "/registry/pods/shop/"}},
		{"/registry/minions/cp-1", "", 2, Group{"nodes", "", "/registry/minions/"}},
		{"/registry/services/specs/shop/cart", "", 2, Group{"services", "shop", "/registry/services/specs/shop/"}},
		{"/registry/services/endpoints/shop/cart", "", 1, Group{"endpoints", "", "/registry/services/endpoints/"}},
		{"/registry/cert-manager.io/certificates/shop/tls", "", 2, Group{"certificates.cert-manager.io", "shop", "/registry/cert-manager.io/certificates/shop/"}},
		{"/registry/apiextensions.k8s.io/customresourcedefinitions/a.b.io", "", 2, Group{"customresourcedefinitions.apiextensions.k8s.io", "", "/registry/apiextensions.k8s.io/customresourcedefinitions/"}},
		{"/kubernetes.io/secrets/openshift-etcd/x", "", 2, Group{"secrets", "openshift-etcd", "/kubernetes.io/secrets/openshift-etcd/"}},
		{"/openshift.io/builds/shop/b", "", 1, Group{"builds", "", "/openshift.io/builds/"}},
		{"/prod/registry/pods/shop/cart", "/prod/registry/", 2, Group{"pods", "shop", "/prod/registry/pods/shop/"}},
		{"/registry/pods/shop/cart", "/registry/pods/", 1, Group{"pods", "", "/registry/pods/"}},
		{"/prod/registry/pods/shop/cart", "", 1, Group{"/prod/", "", "/prod/"}},
		{"/prod/registry/pods/shop/cart", "", 2, Group{"/prod/registry/", "", "/prod/registry/"}},
		{"compact_rev_key", "", 1, Group{"compact_rev_key", "", "compact_rev_key"}},
		{"/bootstrap/0123", "", 1, Group{"/bootstrap/", "", "/bootstrap/"}},
		{"/registry/health", "", 1, Group{"/registry/health", "", "/registry/health"}},
		{"/registry/ranges/serviceips", "", 1, Group{"ranges", "", "/registry/ranges/"}},
		{"", "", 1, Group{}},
	} {
		if got := groupOf(tc.key, tc.prefix, tc.depth); got != tc.want {
			t.Errorf("groupOf(%q, %q, %d) = %+v, want %+v", tc.key, tc.prefix, tc.depth, got, tc.want)
		}
	}
}

// FuzzGroupOf holds what the scan rests on: a key is within its group, and
// before its end.
func FuzzGroupOf(f *testing.F) {
	f.Add("/registry/pods/shop/cart", "", 1)
	f.Add("/registry/a.b/c/d/e", "/registry/", 2)
	f.Add("a/\xff/b", "a/", 2)
	f.Fuzz(func(t *testing.T, key, prefix string, depth int) {
		if depth < 1 || depth > 2 || key == "" {
			return
		}
		g := groupOf(key, prefix, depth)
		if !strings.HasPrefix(key, g.Prefix) {
			t.Errorf("%q is not within %+v", key, g)
		}
		if end := g.end(); key >= end && end != "\x00" {
			t.Errorf("%q is behind %q, the end of %+v", key, end, g)
		}
	})
}
