package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Name is that of the roles.
const Name = "ktriage"

// A Subject is who gets the roles.
type Subject struct{ Kind, Namespace, Name string }

// A rule is rights that differ in their verbs only.
type rule struct {
	Need
	verbs []string
}

// YAML writes a ClusterRole, and a Role for each namespace in which that
// suffices, ready for kubectl apply. With a subject it writes their bindings too.
func YAML(needs []Need, subject *Subject) string { return YAMLNamed(Name, needs, subject) }

// YAMLNamed is YAML with another name for the roles and their bindings.
func YAMLNamed(name string, needs []Need, subject *Subject) string {
	var docs []string
	namespaces := []string{""}
	for _, n := range needs {
		if !slices.Contains(namespaces, n.Namespace) {
			namespaces = append(namespaces, n.Namespace)
		}
	}
	for _, ns := range namespaces {
		rules := rulesOf(needs, ns)
		if len(rules) == 0 {
			continue
		}
		docs = append(docs, role(name, ns, rules))
		if subject != nil {
			docs = append(docs, binding(name, ns, *subject))
		}
	}
	head := "# What ktriage reads, made by ktriage permissions. None of it changes anything;\n"
	if slices.ContainsFunc(needs, func(n Need) bool { return n.Writes }) {
		head = "# What ktriage reads and, where a rule says so, writes, made by ktriage permissions.\n"
	}
	return head +
		"# port-forward is the way to ports that listen on 127.0.0.1 or inside of a pod; a\n" +
		"# subjectaccessreview asks what the scheduler may do, is answered and kept by nobody.\n" + strings.Join(docs, "---\n")
}

func rulesOf(needs []Need, ns string) []rule {
	var out []rule
	for _, n := range needs {
		if n.Namespace != ns {
			continue
		}
		i := slices.IndexFunc(out, func(r rule) bool {
			return r.Path == n.Path && r.Group == n.Group && r.Resource == n.Resource && r.Right.Name == n.Right.Name && slices.Equal(r.By, n.By)
		})
		if i >= 0 {
			out[i].verbs = append(out[i].verbs, n.Verb)
			continue
		}
		out = append(out, rule{n, []string{n.Verb}})
	}
	return out
}

func role(name, ns string, rules []rule) string {
	var b strings.Builder
	b.WriteString("apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind(ns, "Role") + "\nmetadata:\n  name: " + name + "\n")
	if ns != "" {
		b.WriteString("  namespace: " + ns + "\n")
	}
	b.WriteString("rules:\n")
	for _, r := range rules {
		writes := ""
		if r.Writes && slices.ContainsFunc(r.verbs, func(v string) bool { return v != "get" }) {
			writes = "writes: "
		}
		fmt.Fprintf(&b, "# %s%s\n", writes, by(r.By))
		if r.Path != "" {
			fmt.Fprintf(&b, "- nonResourceURLs: [%q]\n", r.Path)
		} else {
			fmt.Fprintf(&b, "- apiGroups: [%q]\n  resources: [%q]\n", r.Group, r.Resource)
			if r.Right.Name != "" {
				fmt.Fprintf(&b, "  resourceNames: [%q]\n", r.Right.Name)
			}
		}
		fmt.Fprintf(&b, "  verbs: [\"%s\"]\n", strings.Join(r.verbs, `", "`))
	}
	return b.String()
}

func binding(name, ns string, s Subject) string {
	var b strings.Builder
	b.WriteString("apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind(ns, "RoleBinding") + "\nmetadata:\n  name: " + name + "\n")
	if ns != "" {
		b.WriteString("  namespace: " + ns + "\n")
	}
	fmt.Fprintf(&b, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: %s\nsubjects:\n- kind: %s\n  name: %q\n", kind(ns, "Role"), name, s.Kind, s.Name)
	if s.Kind == "ServiceAccount" {
		fmt.Fprintf(&b, "  namespace: %q\n", s.Namespace)
	} else {
		b.WriteString("  apiGroup: rbac.authorization.k8s.io\n")
	}
	return b.String()
}

func kind(ns, of string) string {
	if ns == "" {
		return "Cluster" + of
	}
	return of
}

// most is how many names stand in a comment.
const most = 4

// by says who needs a rule.
func by(names []string) string {
	if len(names) <= most+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
