package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCures carries cures out on a real control plane: with certificates, a lock
// in Kubernetes, and an Event that tells of it.
func TestCures(t *testing.T) {
	bin := ktriage(t)
	lab := theLab.get(t)
	state := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, bin, append(args, "--state-dir", state)...)
		cmd.Env = os.Environ()
		for _, v := range lab.Options.Env() {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("ktriage %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, out)
		}
		return string(out)
	}

	t.Run("an operator forbids it", func(t *testing.T) {
		kubectl(t, lab, "-n", "kube-system", "create", "configmap", "ktriage-halt")
		defer kubectl(t, lab, "-n", "kube-system", "delete", "configmap", "ktriage-halt")
		if out := run(4, "fix", "etcd-defrag", "--rule", "true", "--yes", "--max-stall", "10s"); !strings.Contains(out, "forbids cures") {
			t.Errorf("got %s", out)
		}
	})
	t.Run("etcd-defrag", func(t *testing.T) {
		out := run(0, "fix", "etcd-defrag", "--rule", "true", "--settle", "1s", "--yes", "--max-stall", "10s")
		for _, want := range []string{"etcd key /ktriage/lock", "Lease kube-system/ktriage", "done: etcd-defrag"} {
			if !strings.Contains(out, want) {
				t.Errorf("it does not say %q:\n%s", want, out)
			}
		}
		if got := kubectl(t, lab, "-n", "kube-system", "get", "lease", "ktriage", "-o", "jsonpath={.spec.holderIdentity}"); got != "" {
			t.Errorf("the Lease is still held by %s", got)
		}
		if got := kubectl(t, lab, "-n", "kube-system", "get", "events", "-o", "jsonpath={.items[*].reason}"); !strings.Contains(got, "Cured") {
			t.Errorf("no Event tells of it: %s", got)
		}
	})
	t.Run("webhook-open", func(t *testing.T) {
		file := filepath.Join(state, "dead.yaml")
		if err := os.WriteFile(file, []byte(deadWebhook), 0o600); err != nil {
			t.Fatal(err)
		}
		kubectl(t, lab, "apply", "-f", file)
		defer kubectl(t, lab, "delete", "-f", file)
		policy := func() string {
			return kubectl(t, lab, "get", "validatingwebhookconfiguration", "e2e-dead", "-o", "jsonpath={.webhooks[0].failurePolicy}")
		}
		run(0, "fix", "webhook-open", "--yes", "--objects", "validatingwebhookconfiguration/e2e-dead")
		if got := policy(); got != "Ignore" {
			t.Errorf("its policy is %s", got)
		}
		saved, _ := filepath.Glob(filepath.Join(state, "saved", "*.json"))
		if len(saved) != 1 {
			t.Fatalf("saved: %q", saved)
		}
		kubectl(t, lab, "replace", "-f", saved[0])
		if got := policy(); got != "Fail" {
			t.Errorf("put back, its policy is %s", got)
		}
	})
	t.Run("nothing to do", func(t *testing.T) {
		for recipe, words := range map[string]string{
			"restart-leader": "no leader is proved to hang", "events-prune": "last occurred before", "apiservice-remove": "without anybody behind it", "etcd-nospace": "NOSPACE is not raised",
		} {
			if out := run(0, "fix", recipe, "--dry-run"); !strings.Contains(out, words) {
				t.Errorf("%s does not say %q:\n%s", recipe, words, out)
			}
		}
	})
}

const deadWebhook = `apiVersion: v1
kind: Service
metadata: {namespace: default, name: e2e-dead}
spec: {ports: [{port: 443}], selector: {app: e2e-dead}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: e2e-dead}
webhooks:
- name: dead.e2e.ktriage.dev
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: default, name: e2e-dead}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], scope: "*"}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: nowhere}}
`
