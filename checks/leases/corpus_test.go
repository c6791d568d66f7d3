package leases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/controllers"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/checks/pods"
	"github.com/ktriage/ktriage/checks/scheduler"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// corpus is where real bodies of healthy clusters are, of minikube without
// leader election, in each of which one pod is unschedulable on purpose.
const corpus = "../../../shared/corpus/metrics"

// TestHealthyClusters holds the checks against what real clusters served.
// Nothing but the one pod may be trouble, neither by two looks nor by one, in
// which case the whole life of the process, its start included, is judged.
func TestHealthyClusters(t *testing.T) {
	versions, _ := filepath.Glob(filepath.Join(corpus, "1_*"))
	if len(versions) == 0 {
		t.Skipf("%s is not there", corpus)
	}
	all := slices.Concat(scheduler.All, controllers.All, leases.All, pods.All)
	for _, dir := range versions {
		for _, looks := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d looks", filepath.Base(dir), looks), func(t *testing.T) {
				src, at := load(t, dir, looks)
				c := collectors.Collect(context.Background(), src, at, 10*time.Second, collectors.Options{}, checks.Facts(all)...)
				pending := false
				for _, f := range checks.Run(c.Snapshot, all) {
					line := fmt.Sprintf("%s %s %s: %s", f.Check, f.Status, f.Target, f.Summary)
					switch {
					case f.Status == checks.Warning && f.Check == "scheduler-unschedulable-pods":
						pending = true
					case f.Status.Bad():
						t.Error(line)
					case f.Status == checks.Unknown && !toldUnknown(f, dir, looks):
						t.Error(line)
					}
				}
				if _, err := os.Stat(filepath.Join(dir, "pods.yaml")); err == nil && !pending {
					t.Error("the pod that is unschedulable on purpose was not found")
				}
			})
		}
	}
}

// toldUnknown reports whether it is right that a verdict is missing: where
// there was only one look, and of families that the version does not have.
func toldUnknown(f checks.Finding, dir string, looks int) bool {
	old := strings.HasSuffix(dir, "1_14") || strings.HasSuffix(dir, "1_18")
	switch f.Check {
	case "kcm-client-errors", "scheduler-errors", "scheduler-throughput-zero", "kcm-retries-high", "kcm-queue-latency",
		"kcm-work-latency", "kcm-gc-sync-errors", "kcm-eviction-rate", "kcm-podgc-force-deletes", "scheduler-preemption-storm", "scheduler-stale-cache":
		return looks == 1 || old && f.Gap.Reason == collectors.Absent
	case "kcm-client-throttled", "scheduler-client-throttled", "scheduler-plugin-slow", "scheduler-backoff-queue", "scheduler-active-queue-backlog", "scheduler-pod-sli-latency":
		return old && f.Gap.Reason == collectors.Absent
	}
	return false
}

// load makes a script of a folder of the corpus.
func load(t *testing.T, dir string, looks int) (*capture.Script, time.Time) {
	t.Helper()
	a := &txtar.Archive{}
	add := func(name string, data []byte) { a.Files = append(a.Files, txtar.File{Name: name, Data: data}) }
	minor := strings.Replace(strings.TrimPrefix(filepath.Base(dir), "1_"), "_", ".", 1)
	add("get kube:/version", []byte(fmt.Sprintf(`{"gitVersion":"v1.%s.0"}`, minor)))
	add("get kube:/apis/config.openshift.io", []byte("gap: absent: no such group"))

	node, at := "minikube", time.Date(2019, 11, 1, 0, 0, 0, 0, time.UTC)
	var control, waiting [][]byte
	if b, err := os.ReadFile(filepath.Join(dir, "pods.yaml")); err == nil {
		for _, p := range items(t, b) {
			var o struct {
				Metadata struct {
					CreationTimestamp time.Time
					Labels            map[string]string
				}
				Spec   struct{ NodeName string }
				Status struct{ Phase string }
			}
			if err := json.Unmarshal(p, &o); err != nil {
				t.Fatal(err)
			}
			at = later(at, o.Metadata.CreationTimestamp)
			if o.Metadata.Labels["tier"] == "control-plane" {
				control, node = append(control, p), o.Spec.NodeName
			}
			if o.Status.Phase == "Pending" {
				waiting = append(waiting, p)
			}
		}
		at = at.Add(time.Minute)
	} else {
		for _, c := range []string{"kube-scheduler", "kube-controller-manager"} {
			control = append(control, fmt.Appendf(nil, `{"metadata":{"name":"%[1]s-minikube","namespace":"kube-system","labels":{"tier":"control-plane"}},
				"spec":{"nodeName":"minikube","containers":[{"name":%[1]q,"command":[%[1]q]}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
				"containerStatuses":[{"name":%[1]q,"state":{"running":{"startedAt":"2019-10-22T16:00:00Z"}}}]}}`, c))
		}
	}
	add("list kube:/api/v1/namespaces/kube-system/pods?labelSelector=tier%3Dcontrol-plane", docs(control))
	add("list kube:/api/v1/pods?fieldSelector=status.phase%3DPending", docs(waiting))
	add("list kube:/api/v1/nodes", fmt.Appendf(nil, "{metadata: {name: %s, labels: {node-role.kubernetes.io/control-plane: ''}}}", node))
	add("list kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%21%3Dkube-node-lease", nil)
	for _, r := range []string{"deployments", "replicasets", "statefulsets", "daemonsets"} {
		add("list kube:/apis/apps/v1/"+r, nil)
	}
	for c, port := range map[string]string{"scheduler": "10259", "controller-manager": "10257"} {
		body, err := os.ReadFile(filepath.Join(dir, "controlplane", c, "metrics"))
		if err != nil {
			t.Fatal(err)
		}
		pod := fmt.Sprintf("pod+https://%s@kube-system/kube-%s-%s:%s", node, c, node, port)
		add("get "+pod+"/healthz", []byte("ok"))
		add("scrape "+pod+"/metrics #last", body)
		if looks == 2 {
			add("scrape "+pod+"/metrics #first", body)
		} else {
			add("scrape "+pod+"/metrics #first", []byte("gap: timeout: no answer within 5s"))
		}
	}
	return capture.NewScript(at, 10*time.Second, a), at
}

func items(t *testing.T, b []byte) []json.RawMessage {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := yaml.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func docs(os [][]byte) []byte {
	return []byte(strings.Join(func() (out []string) {
		for _, o := range os {
			out = append(out, string(o))
		}
		return out
	}(), "\n---\n"))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
