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
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/matrix"
)

// reader is the namespace of the service accounts, and what the names of all
// that the test makes begin with.
const reader = "ktriage-reader"

// TestPermissions: a service account with just the roles that ktriage prints sees
// everything, and for want of each single rule something is unknown, with the
// right that is missing named.
func TestPermissions(t *testing.T) {
	bin := ktriage(t)
	lab := theLab.get(t)
	client, err := lab.Client()
	must(t, err)
	ctx := t.Context()
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: reader}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { remove(context.Background(), client) })

	out, err := exec.CommandContext(ctx, bin, "permissions").Output()
	if err != nil {
		t.Fatalf("ktriage permissions: %v", err)
	}
	roles := parseRoles(t, out)
	whole := newAccount(ctx, t, lab, client, "whole", roles)
	whole.settle(ctx, t, client, roles, rbacv1.PolicyRule{})
	users := whole.rights(ctx, t, bin)
	for _, r := range users {
		if r.Allowed == nil || !*r.Allowed {
			t.Errorf("permissions --check: with the whole role it has not: %s", r.Right)
		}
	}
	// A right that is refused, and a thing that there was no time to ask for, look
	// alike where only the former is looked for: both are unknown.
	g := whole.doctor(ctx, t, bin, "--window", "10s")
	for _, f := range g.Findings {
		if f.Status == "unknown" {
			t.Errorf("with the whole role: %s %s is unknown: %+v", f.Check, f.Target, f.Gap)
		}
	}
	if len(g.Findings) == 0 {
		t.Error("with the whole role: nothing was found at all")
	}

	for i, role := range roles {
		for n, rule := range role.Rules {
			name := strings.Join(slices.Concat(rule.NonResourceURLs, rule.Resources, rule.Verbs), " ")
			t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
				t.Parallel()
				fewer := slices.Clone(roles)
				fewer[i].Rules = slices.Delete(slices.Clone(role.Rules), n, n+1)
				a := newAccount(ctx, t, lab, client, fmt.Sprintf("%d-%d", i, n), fewer)
				if addsOnly[name] {
					t.Skipf("%s: it adds to what is said, and no verdict needs it", name)
				}
				if !a.settle(ctx, t, client, fewer, rule) {
					t.Skipf("%s: everybody has it", name)
				}
				// A few checks are enough, and quick. Where these had another way, or no
				// turn in the time of a busy machine, all that ask for it are tried.
				few, all := wanting(users, rule)
				if all == "" {
					t.Skipf("%s: no check asks for it, but a command that lists", name)
				}
				g := a.doctor(ctx, t, bin, append(usedBy[name], "--window", "1s", "--only", few)...)
				named := g.naming(rule)
				if len(named) == 0 {
					g = a.doctor(ctx, t, bin, append(usedBy[name], "--window", "10s", "--only", all)...)
					named = g.naming(rule)
				}
				if len(named) == 0 {
					t.Errorf("without %s no finding is unknown and names it: %s", name, g)
				}
				t.Logf("without %s: %s", name, strings.Join(named, "; "))
			})
		}
	}
}

// namesRight reports whether a remedy says to grant what the rule has: one of
// its verbs on its resource or path.
func namesRight(remedy string, rule rbacv1.PolicyRule) bool {
	head, _, _ := strings.Cut(remedy, ":")
	verbs, of, ok := strings.Cut(strings.TrimPrefix(head, "grant "), " on ")
	if !ok || !slices.ContainsFunc(rule.Verbs, func(v string) bool { return slices.Contains(strings.Fields(verbs), v) }) {
		return false
	}
	if len(rule.NonResourceURLs) > 0 {
		return of == "nonResourceURL "+rule.NonResourceURLs[0]
	}
	want := rule.Resources[0]
	if g := rule.APIGroups[0]; g != "" {
		want += "." + g
	}
	return of == want
}

// A userOf is a right, and which checks ask for it, as permissions --check
// writes it.
type userOf struct {
	Right    string
	Allowed  *bool
	NeededBy []string
}

// wanting lists the checks that ask for what the rule gives, and a few of them:
// those that ask for the least besides, which are about just that.
func wanting(users []userOf, rule rbacv1.PolicyRule) (few, all string) {
	of := slices.Concat(rule.NonResourceURLs, rule.Resources)[0]
	if len(rule.APIGroups) > 0 && rule.APIGroups[0] != "" {
		of += "." + rule.APIGroups[0]
	}
	asks := map[string]int{}
	var names []string
	for _, u := range users {
		words := strings.Fields(u.Right)
		mine := slices.Contains(words, of) && slices.Contains(rule.Verbs, words[0])
		for _, n := range u.NeededBy {
			asks[n]++
			if mine && !strings.Contains(n, " ") && !slices.Contains(names, n) { // others are no checks
				names = append(names, n)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return asks[a] - asks[b] })
	return strings.Join(names[:min(len(names), 3)], ","), strings.Join(names, ",")
}

// gaps is a report as far as it tells what was not seen.
type gaps struct {
	Findings []struct {
		Check, Target, Status string
		Gap                   *struct{ Reason, Detail, Remedy string }
	}
}

// naming lists what is unknown for want of the rule, and says so.
func (g gaps) naming(rule rbacv1.PolicyRule) []string {
	var out []string
	for _, f := range g.Findings {
		if f.Status == "unknown" && f.Gap != nil && f.Gap.Reason == "forbidden" && namesRight(f.Gap.Remedy, rule) {
			grant, _, _ := strings.Cut(f.Gap.Remedy, ":")
			out = append(out, f.Check+" "+f.Target+" ("+grant+")")
		}
	}
	return out
}

// String is what is unknown.
func (g gaps) String() string {
	var out []string
	for _, f := range g.Findings {
		if f.Status == "unknown" && f.Gap != nil {
			out = append(out, fmt.Sprintf("%s %s %+v", f.Check, f.Target, *f.Gap))
		}
	}
	return fmt.Sprintf("%d findings, of which are unknown: %s", len(g.Findings), strings.Join(out, "; "))
}

// An account is a service account with roles of its own.
type account struct {
	name, kubeconfig string
	lab              *cluster.Lab
}

func newAccount(ctx context.Context, t *testing.T, lab *cluster.Lab, c kubernetes.Interface, name string, roles []rbacv1.ClusterRole) account {
	t.Helper()
	accounts := c.CoreV1().ServiceAccounts(reader)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	seconds := int64(3600)
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	must(t, err)
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: reader, Name: name}}
	meta := metav1.ObjectMeta{Name: reader + "-" + name}
	for _, r := range roles {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: r.Kind, Name: meta.Name}
		if r.Namespace == "" {
			_, err = c.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: r.Rules}, metav1.CreateOptions{})
			must(t, err)
			_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		} else {
			_, err = c.RbacV1().Roles(r.Namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: r.Rules}, metav1.CreateOptions{})
			must(t, err)
			_, err = c.RbacV1().RoleBindings(r.Namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		}
		must(t, err)
	}
	return account{name, tokenKubeconfig(t, lab, token.Status.Token), lab}
}

// settle waits until the API server has heard of the account's roles, and
// reports whether it then refuses a rule that they lack. Some things everybody
// may who is known, by roles that clusters have from their start.
func (a account) settle(ctx context.Context, t *testing.T, c kubernetes.Interface, roles []rbacv1.ClusterRole, lacks rbacv1.PolicyRule) bool {
	t.Helper()
	for _, r := range roles {
		if len(r.Rules) == 0 { // the one that it had was taken away
			continue
		}
		for !a.may(ctx, t, c, r.Namespace, r.Rules[0]) { // a role is heard of as a whole
			select {
			case <-ctx.Done():
				t.Fatal(ctx.Err())
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	if len(lacks.Verbs) == 0 {
		return false
	}
	for _, r := range roles {
		if !a.may(ctx, t, c, r.Namespace, lacks) {
			return true
		}
	}
	return false
}

func (a account) may(ctx context.Context, t *testing.T, c kubernetes.Interface, namespace string, rule rbacv1.PolicyRule) bool {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + reader + ":" + a.name, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + reader, "system:authenticated"},
	}}
	if len(rule.NonResourceURLs) > 0 {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: rule.NonResourceURLs[0], Verb: rule.Verbs[0]}
	} else {
		resource, sub, _ := strings.Cut(rule.Resources[0], "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: sub}
		if len(rule.ResourceNames) > 0 {
			review.Spec.ResourceAttributes.Name = rule.ResourceNames[0]
		}
	}
	got, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	must(t, err)
	return got.Status.Allowed
}

func (a account) doctor(ctx context.Context, t *testing.T, bin string, args ...string) gaps {
	t.Helper()
	args = append([]string{"doctor", "--kubeconfig", a.kubeconfig, "--forward-token", "-o", "json"}, args...)
	return doctorGaps(ctx, t, bin, append(args, matrix.EtcdFlags(a.lab)...))
}

// rights is what permissions --check says that the account has.
func (a account) rights(ctx context.Context, t *testing.T, bin string) []userOf {
	t.Helper()
	out, err := exec.CommandContext(ctx, bin, "permissions", "--check", "-o", "json", "--kubeconfig", a.kubeconfig).Output()
	if err != nil {
		t.Errorf("permissions --check with the whole role: %v", err)
	}
	var r struct{ Rights []userOf }
	must(t, json.Unmarshal(out, &r))
	return r.Rights
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

// parseRoles reads what ktriage printed. A Role is written like a ClusterRole,
// with its namespace.
func parseRoles(t *testing.T, docs []byte) []rbacv1.ClusterRole {
	t.Helper()
	var out []rbacv1.ClusterRole
	for _, doc := range strings.Split(string(docs), "\n---\n") {
		var r rbacv1.ClusterRole
		must(t, yaml.UnmarshalStrict([]byte(doc), &r))
		if (r.Kind != "ClusterRole" || r.Namespace != "") && (r.Kind != "Role" || r.Namespace == "") || len(r.Rules) == 0 {
			t.Fatalf("what is this?\n%s", doc)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatal("ktriage permissions printed no role")
	}
	return out
}

// remove deletes all that the test made.
func remove(ctx context.Context, c kubernetes.Interface) {
	_ = c.CoreV1().Namespaces().Delete(ctx, reader, metav1.DeleteOptions{})
	api := c.RbacV1()
	roles, _ := api.ClusterRoles().List(ctx, metav1.ListOptions{})
	for _, r := range roles.Items {
		if strings.HasPrefix(r.Name, reader+"-") {
			_ = api.ClusterRoles().Delete(ctx, r.Name, metav1.DeleteOptions{})
			_ = api.ClusterRoleBindings().Delete(ctx, r.Name, metav1.DeleteOptions{})
		}
	}
	inside, _ := api.Roles("").List(ctx, metav1.ListOptions{})
	for _, r := range inside.Items {
		if strings.HasPrefix(r.Name, reader+"-") {
			_ = api.Roles(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{})
			_ = api.RoleBindings(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{})
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// usedBy are the flags without which doctor does not use a right.
var usedBy = map[string][]string{
	"pods/log get": {"--logs"},
}

// addsOnly are rights that add to a finding, whose verdict stands without.
var addsOnly = map[string]bool{
	"/flagz get":                  true,
	"/configz get":                true, // for the reasons of a pod that fits nowhere
	"subjectaccessreviews create": true,
	// Only while a pod fits nowhere, and says so without them: they are for what is
	// in its way besides. ktriage pending names those that it may not read.
	"persistentvolumes list": true, "csinodes list": true, "csidrivers list": true, "csistoragecapacities list": true,
	"resourceclaims list": true, "resourceslices list": true, "deviceclasses list": true, "priorityclasses list": true,
	"/debug/api_priority_and_fairness/dump_requests get": true,
}
