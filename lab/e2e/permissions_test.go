package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/matrix"
)

const reader = "ktriage-reader"

// TestPermissions: a service account with just the roles that ktriage prints sees
// everything, and for want of each single rule something is unknown, with the
// right that is missing named.
func TestPermissions(t *testing.T) {
	bin := ktriage(t)
	lab := theLab.get(t)
	client, err := lab.Client()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: reader}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var roles applied
	t.Cleanup(func() {
		ctx := context.Background()
		roles.remove(ctx, client)
		_ = client.CoreV1().Namespaces().Delete(ctx, reader, metav1.DeleteOptions{})
	})
	if _, err := client.CoreV1().ServiceAccounts(reader).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: reader}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	seconds := int64(3600)
	token, err := client.CoreV1().ServiceAccounts(reader).CreateToken(ctx, reader, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := tokenKubeconfig(t, lab, token.Status.Token)
	out, err := exec.CommandContext(ctx, bin, "permissions", "--for", "serviceaccount:"+reader+"/"+reader).Output()
	if err != nil {
		t.Fatalf("ktriage permissions: %v", err)
	}
	roles.apply(ctx, t, client, out)
	run := func(args ...string) gaps {
		args = append([]string{"doctor", "--kubeconfig", kubeconfig, "--forward-token", "--window", "1s", "-o", "json"}, append(args, matrix.EtcdFlags(lab)...)...)
		return doctorGaps(ctx, t, bin, args)
	}
	if refused := run().refused(); len(refused) > 0 {
		t.Errorf("with the whole role: %s", strings.Join(refused, "\n"))
	}
	check := func() (string, int) {
		cmd := exec.CommandContext(ctx, bin, "permissions", "--check", "--kubeconfig", kubeconfig)
		var b bytes.Buffer
		cmd.Stdout = &b
		_ = cmd.Run()
		return b.String(), cmd.ProcessState.ExitCode()
	}
	if text, code := check(); code != 0 {
		t.Errorf("permissions --check with the whole role: exit code %d\n%s", code, text)
	}
	for _, r := range roles.all {
		for i := range r.rules() {
			rule := r.rules()[i]
			name := strings.Join(append(append(append([]string{}, rule.NonResourceURLs...), rule.Resources...), rule.Verbs...), " ")
			t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
				r.without(ctx, t, client, i)
				defer r.restore(ctx, t, client)
				text, code := check()
				if code != 3 || !strings.Contains(text, "NO  ") {
					// Everybody who is known may have it, by a role that clusters have from their start.
					t.Skipf("%s: everybody has it", name)
				}
				// Some of those who need it are enough, and quick.
				refused := run("--only", needing(text)).refused()
				if len(refused) == 0 {
					t.Errorf("%s: nothing was unknown without it", name)
				}
				t.Logf("without %s: %d checks do not see what they need: %s", name, len(refused), short(refused))
			})
		}
	}
}

// needing lists the checks that permissions --check names as those that lack
// something.
func needing(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		_, names, ok := strings.Cut(line, "without it not seen by ")
		if !strings.HasPrefix(line, "NO ") || !ok {
			continue
		}
		names, _, _ = strings.Cut(names, " and ")
		for _, n := range strings.Split(strings.TrimSpace(names), ", ") {
			if !strings.Contains(n, " ") && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return strings.Join(out, ",")
}

func short(in []string) string {
	if len(in) > 4 {
		return strings.Join(in[:4], "; ") + fmt.Sprintf(" and %d more", len(in)-4)
	}
	return strings.Join(in, "; ")
}

// gaps is a report as far as it tells what was refused.
type gaps struct {
	Findings []struct {
		Check, Target, Status string
		Gap                   *struct{ Reason, Detail, Remedy string }
	}
}

// refused lists the checks that were refused something, with the right to grant.
func (g gaps) refused() []string {
	var out []string
	for _, f := range g.Findings {
		if f.Status != "unknown" || f.Gap == nil || f.Gap.Reason != "forbidden" && f.Gap.Reason != "unauthorized" {
			continue
		}
		right, _, _ := strings.Cut(f.Gap.Remedy, ":")
		if s := f.Check + " (" + right + ")"; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func doctorGaps(ctx context.Context, t *testing.T, bin string, args []string) gaps {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // its exit code is that of the verdict
	var g gaps
	if err := json.Unmarshal(out.Bytes(), &g); err != nil {
		t.Fatalf("ktriage %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return g
}

// tokenKubeconfig writes the lab's kubeconfig with a token in place of its
// credentials.
func tokenKubeconfig(t *testing.T, lab *cluster.Lab, token string) string {
	t.Helper()
	c, err := clientcmd.LoadFromFile(lab.Options.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range c.AuthInfos {
		u.ClientCertificate, u.ClientKey, u.ClientCertificateData, u.ClientKeyData, u.Token = "", "", nil, nil, token
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// applied is the roles that were made of what ktriage printed.
type applied struct{ all []*role }

type role struct {
	cluster *rbacv1.ClusterRole
	plain   *rbacv1.Role
}

func (a *applied) apply(ctx context.Context, t *testing.T, c kubernetes.Interface, docs []byte) {
	t.Helper()
	for _, doc := range strings.Split(string(docs), "\n---\n") {
		var m metav1.TypeMeta
		must(t, yaml.Unmarshal([]byte(doc), &m))
		var err error
		switch m.Kind {
		case "ClusterRole":
			var o rbacv1.ClusterRole
			must(t, yaml.Unmarshal([]byte(doc), &o))
			o.Name = reader
			a.all = append(a.all, &role{cluster: &o})
			_, err = c.RbacV1().ClusterRoles().Create(ctx, &o, metav1.CreateOptions{})
		case "Role":
			var o rbacv1.Role
			must(t, yaml.Unmarshal([]byte(doc), &o))
			o.Name = reader
			a.all = append(a.all, &role{plain: &o})
			_, err = c.RbacV1().Roles(o.Namespace).Create(ctx, &o, metav1.CreateOptions{})
		case "ClusterRoleBinding":
			var o rbacv1.ClusterRoleBinding
			must(t, yaml.Unmarshal([]byte(doc), &o))
			o.Name, o.RoleRef.Name = reader, reader
			_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, &o, metav1.CreateOptions{})
		case "RoleBinding":
			var o rbacv1.RoleBinding
			must(t, yaml.Unmarshal([]byte(doc), &o))
			o.Name, o.RoleRef.Name = reader, reader
			_, err = c.RbacV1().RoleBindings(o.Namespace).Create(ctx, &o, metav1.CreateOptions{})
		default:
			t.Fatalf("what is a %q?\n%s", m.Kind, doc)
		}
		must(t, err)
	}
}

func (a *applied) remove(ctx context.Context, c kubernetes.Interface) {
	_ = c.RbacV1().ClusterRoles().Delete(ctx, reader, metav1.DeleteOptions{})
	_ = c.RbacV1().ClusterRoleBindings().Delete(ctx, reader, metav1.DeleteOptions{})
	for _, r := range a.all {
		if r.plain != nil {
			_ = c.RbacV1().Roles(r.plain.Namespace).Delete(ctx, reader, metav1.DeleteOptions{})
			_ = c.RbacV1().RoleBindings(r.plain.Namespace).Delete(ctx, reader, metav1.DeleteOptions{})
		}
	}
}

func (r *role) rules() []rbacv1.PolicyRule {
	if r.cluster != nil {
		return r.cluster.Rules
	}
	return r.plain.Rules
}

// without takes one rule out of the role in the cluster.
func (r *role) without(ctx context.Context, t *testing.T, c kubernetes.Interface, i int) {
	t.Helper()
	r.write(ctx, t, c, slices.Delete(slices.Clone(r.rules()), i, i+1))
}

func (r *role) restore(ctx context.Context, t *testing.T, c kubernetes.Interface) {
	t.Helper()
	r.write(context.WithoutCancel(ctx), t, c, r.rules())
}

// settle is how long an API server may take to hear of a changed role.
const settle = 500 * time.Millisecond

func (r *role) write(ctx context.Context, t *testing.T, c kubernetes.Interface, rules []rbacv1.PolicyRule) {
	t.Helper()
	if r.cluster != nil {
		o := r.cluster.DeepCopy()
		o.Rules = rules
		_, err := c.RbacV1().ClusterRoles().Update(ctx, o, metav1.UpdateOptions{})
		must(t, err)
	} else {
		o := r.plain.DeepCopy()
		o.Rules = rules
		_, err := c.RbacV1().Roles(o.Namespace).Update(ctx, o, metav1.UpdateOptions{})
		must(t, err)
	}
	time.Sleep(settle)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
