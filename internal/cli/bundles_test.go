package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/cli"
)

// What is wrong with the cluster that all bundles are of: the database of its etcd is
// full, which its log says, and a pod waits for a node without a taint.
const (
	bundleNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"cp-1","uid":"n1","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"kubernetes.io/hostname":"cp-1","node-role.kubernetes.io/control-plane":""}},
		"spec":{"taints":[{"key":"dedicated","value":"db","effect":"NoSchedule"}]},
		"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"capacity":{"cpu":"4","memory":"8Gi","pods":"110"},"nodeInfo":{"kubeletVersion":"v1.34.1"},
		"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-02T03:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	bundleEtcd = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"etcd-cp-1","namespace":"%s","uid":"p1","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"component":"etcd","tier":"control-plane","k8s-app":"etcd"},"annotations":{"kubernetes.io/config.source":"file"}},
		"spec":{"nodeName":"cp-1","hostNetwork":true,"containers":[{"name":"etcd","image":"registry.k8s.io/etcd:3.6.4-0","command":["etcd","--name=cp-1"]}],"tolerations":[{"operator":"Exists"}]},
		"status":{"phase":"Running","podIP":"10.0.0.1","hostIP":"10.0.0.1","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}],
		"containerStatuses":[{"name":"etcd","ready":true,"restartCount":0,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}}`
	bundlePending = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","uid":"p2","creationTimestamp":"2026-01-02T02:00:00Z"},
		"spec":{"schedulerName":"default-scheduler","containers":[{"name":"web","image":"web","resources":{"requests":{"cpu":"1"}}}]},
		"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"2026-01-02T02:00:00Z","message":"0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}."}]}}`
	bundleEvent = `{"apiVersion":"v1","kind":"Event","metadata":{"name":"web-1.1","namespace":"shop","uid":"e1"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"web-1","uid":"p2"},
		"reason":"FailedScheduling","type":"Warning","message":"0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}.","source":{"component":"default-scheduler"},"count":9,"firstTimestamp":"2026-01-02T02:00:00Z","lastTimestamp":"2026-01-02T03:00:00Z"}`
	bundleVersion = `{"major":"1","minor":"34","gitVersion":"v1.34.1","gitCommit":"0","gitTreeState":"clean","buildDate":"2025-09-01T00:00:00Z","goVersion":"go1.24","compiler":"gc","platform":"linux/amd64"}`
)

// bundleLog is what etcd says as long as its database is full.
func bundleLog() string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `{"level":"warn","ts":"2026-01-02T02:%02d:00.000000Z","caller":"etcdserver/util.go:170","msg":"failed to apply request","took":"4µs","request":"header:<ID:1 > txn:<>","response":"","error":"etcdserver: no space"}`+"\n", 30+i)
	}
	return b.String()
}

func list(items ...string) string {
	return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + strings.Join(items, ",") + `]}`
}

// typed is a list as the API server answers with, whose items have no kind of their own.
func typed(kind string, items ...string) string {
	for i, s := range items {
		var o map[string]any
		if err := json.Unmarshal([]byte(s), &o); err != nil {
			panic(err)
		}
		delete(o, "kind")
		delete(o, "apiVersion")
		b, _ := json.Marshal(o)
		items[i] = string(b)
	}
	return `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`
}

func toYAML(s string) string {
	b, err := yaml.JSONToYAML([]byte(s))
	if err != nil {
		panic(err)
	}
	return "---\n" + string(b)
}

// TestBundlesOfOtherToolsAreJudgedAlike has one sick cluster as four tools pack it:
// their folders, the forms of their lists, the names of their logs.
func TestBundlesOfOtherToolsAreJudgedAlike(t *testing.T) {
	etcd := fmt.Sprintf(bundleEtcd, "kube-system")
	openshift := fmt.Sprintf(bundleEtcd, "openshift-etcd")
	items := func(s ...string) string { return "[" + strings.Join(s, ",") + "]" }
	digest := "must-gather.local.123/registry-example-com-must-gather-sha256-0123/"
	for name, c := range map[string]struct {
		packed bool
		files  map[string]string
	}{
		"oc adm must-gather": {false, map[string]string{
			digest + "version":   "openshift/must-gather\n4.20.0\n",
			digest + "timestamp": "2026-01-02 03:00:00.000000000 +0000 UTC\n",
			digest + "cluster-scoped-resources/core/nodes/cp-1.yaml":                             toYAML(bundleNode),
			digest + "namespaces/openshift-etcd/core/pods.yaml":                                  toYAML(typed("PodList", openshift)),
			digest + "namespaces/openshift-etcd/pods/etcd-cp-1/etcd-cp-1.yaml":                   toYAML(openshift),
			digest + "namespaces/openshift-etcd/pods/etcd-cp-1/etcd/etcd/logs/current.log":       stamped(bundleLog()),
			digest + "namespaces/openshift-etcd/pods/etcd-cp-1/etcd/etcd/logs/previous.log":      "",
			digest + "namespaces/shop/core/pods.yaml":                                            toYAML(typed("PodList", bundlePending)),
			digest + "namespaces/shop/core/events.yaml":                                          toYAML(typed("EventList", bundleEvent)),
			digest + "namespaces/shop/shop.yaml":                                                 toYAML(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"},"status":{"phase":"Active"}}`),
			digest + "etcd_info/alarm_list.json":                                                 "{}\n",
			digest + "host_service_logs/masters/kubelet_service.log":                             "",
			digest + "cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml": toYAML(`{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion","metadata":{"name":"version"},"status":{"history":[{"state":"Completed","version":"4.20.0"}]}}`),
		}},
		"support-bundle": {true, map[string]string{
			"support-bundle-2026-01-02T03_00_00/version.yaml":                                               "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: 0.120.0\n",
			"support-bundle-2026-01-02T03_00_00/cluster-info/cluster_version.json":                          `{"info":` + bundleVersion + `,"string":"v1.34.1"}`,
			"support-bundle-2026-01-02T03_00_00/cluster-resources/nodes.json":                               typed("NodeList", bundleNode),
			"support-bundle-2026-01-02T03_00_00/cluster-resources/pods/kube-system.json":                    typed("PodList", etcd),
			"support-bundle-2026-01-02T03_00_00/cluster-resources/pods/shop.json":                           typed("PodList", bundlePending),
			"support-bundle-2026-01-02T03_00_00/cluster-resources/pods/logs/kube-system/etcd-cp-1/etcd.log": bundleLog(),
			"support-bundle-2026-01-02T03_00_00/cluster-resources/events/shop.json":                         typed("EventList", bundleEvent),
			"support-bundle-2026-01-02T03_00_00/cluster-resources/leases/kube-system.json":                  typed("LeaseList"),
			"support-bundle-2026-01-02T03_00_00/analysis.json":                                              `[{"name":"x","insight":{"severity":"info"}}]`,
		}},
		"kubectl cluster-info dump": {false, map[string]string{
			"nodes.json":                        list(bundleNode),
			"kube-system/pods.json":             list(etcd),
			"kube-system/events.json":           list(),
			"kube-system/services.json":         list(),
			"kube-system/etcd-cp-1/logs.txt":    "==== START logs for container etcd of pod kube-system/etcd-cp-1 ====\n" + bundleLog() + "==== END logs for container etcd of pod kube-system/etcd-cp-1 ====\n",
			"shop/pods.json":                    list(bundlePending),
			"shop/events.json":                  list(bundleEvent),
			"shop/replication-controllers.json": list(),
		}},
		"sonobuoy": {true, map[string]string{
			"serverversion.json":                          bundleVersion,
			"meta/info.json":                              "{}",
			"resources/cluster/core_v1_nodes.json":        items(bundleNode),
			"resources/ns/kube-system/core_v1_pods.json":  items(etcd),
			"resources/ns/shop/core_v1_pods.json":         items(bundlePending),
			"resources/ns/shop/core_v1_events.json":       items(bundleEvent),
			"podlogs/kube-system/etcd-cp-1/logs/etcd.txt": bundleLog(),
			"hosts/cp-1/healthz.json":                     `{"status":200}`,
			"plugins/e2e/sonobuoy_results.yaml":           "name: e2e\nstatus: passed\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.packed {
				dir = filepath.Join(dir, "bundle.tar.gz")
				if err := os.WriteFile(dir, packed(t, c.files), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				for n, text := range c.files {
					f := filepath.Join(dir, filepath.FromSlash(n))
					if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			code, out, errs := invoke("doctor", "--from", dir)
			t.Log(out, errs)
			if code != cli.ExitUnknown { // most cannot be told from this
				t.Errorf("exit code %d", code)
			}
			for _, want := range []string{"no space", "etcd/cp-1: 30 lines", "shop/web-1", "dedicated"} {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
					t.Errorf("it does not say %q", want)
				}
			}
		})
	}
}

// stamped has the time before each line, as the kubelet writes them.
func stamped(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		_, at, _ := strings.Cut(line, `"ts":"`)
		b.WriteString(at[:strings.IndexByte(at, '"')] + " " + line)
	}
	return b.String()
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
