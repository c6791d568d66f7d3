package cli

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// A variant is what kustomize makes of one of deploy's folders.
type variant struct {
	jobs      []batchv1.CronJob
	rules     []rbacv1.PolicyRule
	namespace corev1.Namespace
	accounts  int
}

func built(t *testing.T, name string) variant {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path.Join("../../deploy/kustomize", name))
	if err != nil {
		t.Fatal(err)
	}
	var v variant
	for _, r := range m.Resources() {
		b, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		strict := func(into any) {
			if err := yaml.UnmarshalStrict(b, into); err != nil {
				t.Errorf("%s: %s %s: %v", name, r.GetKind(), r.GetName(), err)
			}
		}
		switch r.GetKind() {
		case "CronJob":
			var j batchv1.CronJob
			strict(&j)
			v.jobs = append(v.jobs, j)
		case "ClusterRole", "Role":
			var role rbacv1.ClusterRole
			strict(&role)
			v.rules = append(v.rules, role.Rules...)
		case "ClusterRoleBinding", "RoleBinding":
			var b rbacv1.ClusterRoleBinding
			strict(&b)
			for _, s := range b.Subjects {
				if s.Name != deployed.Name || s.Namespace != deployed.Namespace {
					t.Errorf("%s: rights for %s", name, s)
				}
			}
		case "Namespace":
			strict(&v.namespace)
		case "ServiceAccount":
			strict(&corev1.ServiceAccount{})
			v.accounts++
		default:
			t.Errorf("%s: what is a %s?", name, r.GetKind())
		}
	}
	return v
}

// TestWhatIsDeployed holds what each variant may do, and that its command line is
// one of this program.
func TestWhatIsDeployed(t *testing.T) {
	for _, tc := range []struct {
		name, level string
		jobs        int
		root        bool
		writes      []string // verbs on resources, beside those of reading
	}{
		{"base", "restricted", 1, false, nil},
		{"report", "restricted", 1, false, []string{"create configmaps", "update configmaps", "create events"}},
		{"etcd", "privileged", 1, true, []string{"create configmaps", "update configmaps", "create events"}},
		{"defrag", "privileged", 2, true, []string{"create configmaps", "update configmaps", "create events", "create leases", "update leases"}},
	} {
		v := built(t, tc.name)
		if len(v.jobs) != tc.jobs || v.accounts != 1 || v.namespace.Labels["pod-security.kubernetes.io/enforce"] != tc.level {
			t.Errorf("%s: %d jobs, %d accounts, level %s", tc.name, len(v.jobs), v.accounts, v.namespace.Labels)
		}
		var writes []string
		for _, r := range v.rules {
			for _, verb := range r.Verbs {
				for _, what := range slices.Concat(r.Resources, r.NonResourceURLs) {
					// A port-forward and a review are created to read.
					if verb != "get" && verb != "list" && what != "pods/portforward" && what != "subjectaccessreviews" {
						writes = append(writes, verb+" "+what)
					}
				}
			}
		}
		slices.Sort(writes)
		want := slices.Sorted(slices.Values(tc.writes))
		if writes = slices.Compact(writes); !slices.Equal(writes, want) {
			t.Errorf("%s may %q, want %q", tc.name, writes, want)
		}
		for _, j := range v.jobs {
			job := j.Spec.JobTemplate.Spec
			pod := job.Template.Spec
			c := pod.Containers[0]
			s, ps := c.SecurityContext, pod.SecurityContext
			switch {
			case j.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || j.Spec.StartingDeadlineSeconds == nil || job.ActiveDeadlineSeconds == nil || *job.BackoffLimit != 0 || pod.RestartPolicy != corev1.RestartPolicyNever:
				t.Errorf("%s: %s has no deadline, or begins beside another", tc.name, j.Name)
			case !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || ps.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
				t.Errorf("%s: %s may more than it needs", tc.name, j.Name)
			case (*ps.RunAsUser == 0) != tc.root || !tc.root && !*ps.RunAsNonRoot || tc.root != pod.HostNetwork:
				t.Errorf("%s: %s runs as user %d", tc.name, j.Name, *ps.RunAsUser)
			case len(pod.Containers) != 1 || pod.ServiceAccountName != deployed.Name:
				t.Errorf("%s: %s is not one container of the account", tc.name, j.Name)
			}
			for _, m := range c.VolumeMounts {
				if !m.ReadOnly && m.MountPath != "/var/lib/ktriage" {
					t.Errorf("%s: %s may write to %s", tc.name, j.Name, m.MountPath)
				}
			}
			// --help behind the flags: they are read first.
			var out, errs bytes.Buffer
			code := Main(Invocation{Args: slices.Concat([]string{"ktriage"}, c.Args, []string{"--help"}), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
				Getenv: func(string) string { return "" }, Now: time.Now})
			if code != ExitOK || !strings.Contains(out.String(), "ktriage "+c.Args[0]) {
				t.Errorf("%s: ktriage %q exits %d: %s", tc.name, c.Args, code, errs.String())
			}
		}
	}
}
