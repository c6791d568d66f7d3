package permissions_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/permissions"
)

// TestEveryFactAsksTheModel holds that no right is missed because the model
// cluster lacks what would make a fact ask.
func TestEveryFactAsksTheModel(t *testing.T) {
	all := checks.Facts(suite.All())
	walk := permissions.NewWalk(all)
	var visit func(collectors.Any)
	seen := map[string]bool{}
	visit = func(f collectors.Any) {
		if seen[f.Name()] {
			return
		}
		seen[f.Name()] = true
		for _, n := range f.Requires() {
			visit(n)
		}
		// Members of before etcd 3.6 are asked for alarms, and those whose
		// hashes differ for another; that needs no right.
		if f.Asks() && f.Name() != "etcd.alarm-list" && f.Name() != "etcd.hashes-again" && len(f.Requests(walk.Snapshot())) == 0 {
			t.Errorf("fact %s asks for nothing of model.txtar: give the model what it asks about", f.Name())
		}
	}
	for _, f := range all {
		visit(f)
	}
}

func TestTheRolesAreRolesAndReadOnly(t *testing.T) {
	var users []permissions.User
	for _, c := range suite.All() {
		users = append(users, permissions.User{Name: string(c.ID), Facts: c.Needs})
	}
	text := permissions.YAML(permissions.Of(users), &permissions.Subject{Kind: "ServiceAccount", Namespace: "a", Name: "b"})
	docs := strings.Split(text, "\n---\n")
	rules := 0
	for _, doc := range docs {
		var r rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(doc), &r); err != nil {
			var b rbacv1.ClusterRoleBinding
			if err := yaml.UnmarshalStrict([]byte(doc), &b); err != nil {
				t.Errorf("neither a role nor a binding: %v\n%s", err, doc)
			}
			continue
		}
		for _, x := range r.Rules {
			rules++
			for _, v := range x.Verbs {
				if v != "get" && v != "list" && !(v == "create" && (slices.Equal(x.Resources, []string{"pods/portforward"}) || slices.Equal(x.Resources, []string{"subjectaccessreviews"}))) {
					t.Errorf("verb %s on %v", v, x.Resources)
				}
			}
			if slices.Contains(x.Resources, "secrets") || slices.Contains(x.Resources, "*") || slices.Contains(x.APIGroups, "*") {
				t.Errorf("too much: %+v", x)
			}
		}
	}
	if rules < 10 {
		t.Errorf("only %d rules:\n%s", rules, text)
	}
}

func TestAFewChecksNeedFewRights(t *testing.T) {
	i := slices.IndexFunc(suite.All(), func(c *checks.Check) bool { return c.ID == "etcd-wal-fsync-slow" })
	needs := permissions.Of([]permissions.User{{Name: "x", Facts: suite.All()[i].Needs}})
	for _, n := range needs {
		if n.Resource == "pods/portforward" && n.Namespace != "kube-system" {
			t.Errorf("etcd's metrics need port-forward in kube-system only, got %s", n)
		}
		if strings.Contains(n.Group, "admission") {
			t.Errorf("etcd's metrics need %s", n)
		}
	}
}

func TestNamespacesThatAreKnown(t *testing.T) {
	var users []permissions.User
	for _, c := range suite.All() {
		users = append(users, permissions.User{Name: string(c.ID), Facts: c.Needs})
	}
	for _, n := range permissions.Of(users, "cert-manager") {
		if n.Resource == "pods/portforward" && n.Namespace == "" {
			t.Errorf("port-forward in all namespaces though they were named")
		}
	}
}
