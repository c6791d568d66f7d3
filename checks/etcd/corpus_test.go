package etcd

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors/capture"
)

// corpus is where captures from real clusters lie, on the machines that have
// them; they are no part of the project.
const corpus = "../../../shared/corpus/metrics"

// oneNode is a kubeadm cluster of one node, reached with a kubeconfig only.
const oneNode = `
-- get config:/etcd --
{"endpoints":[],"credentials":false}
-- get kube:/version --
{"major":"1","minor":"30","gitVersion":"v1.30.0"}
-- get kube:/apis/config.openshift.io --
gap: absent: no such group
-- list kube:/api/v1/nodes --
metadata: {name: cp-1, labels: {node-role.kubernetes.io/control-plane: ""}}
status: {capacity: {cpu: "4", memory: 8Gi}}
-- list kube:/api/v1/namespaces/kube-system/pods?labelSelector=tier%3Dcontrol-plane --
metadata: {name: etcd-cp-1, namespace: kube-system, labels: {tier: control-plane}}
spec:
  nodeName: cp-1
  containers: [{name: etcd, command: [etcd, --name=cp-1, "--advertise-client-urls=https://10.0.0.11:2379", "--listen-metrics-urls=http://127.0.0.1:2381"]}]
status: {phase: Running, hostIP: 10.0.0.11, conditions: [{type: Ready, status: "True"}]}
-- get pod+http://cp-1@kube-system/etcd-cp-1:2381/health --
{"health":"true"}
`

// TestHealthyClustersGiveNoAlarm reads what etcd 3.3 to 3.6 really served, as
// the only look, which is judged by the process's whole life, and as both.
func TestHealthyClustersGiveNoAlarm(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "*/controlplane/etcd/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("there are no captures in %s", corpus)
	}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// When it was captured is not known: some minutes after the start.
		at := started(t, body).Add(5 * time.Minute)
		const url = "pod+http://cp-1@kube-system/etcd-cp-1:2381/metrics"
		for looks, script := range map[string]string{
			"one look":  fmt.Sprintf("-- scrape %s #first --\ngap: timeout: no answer\n-- scrape %s #last --\n%s", url, url, body),
			"two looks": fmt.Sprintf("-- scrape %s --\n%s", url, body),
		} {
			t.Run(strings.Split(f, "/")[6]+" "+looks, func(t *testing.T) {
				src := capture.NewScript(at, checktest.Window, txtar.Parse([]byte(oneNode)), txtar.Parse([]byte(script)))
				for _, line := range checktest.Judge(src, slices.DeleteFunc(slices.Clone(All), func(c *checks.Check) bool { return c.Deep })...) {
					t.Log(line)
					if strings.HasPrefix(line, "warning") || strings.HasPrefix(line, "critical") {
						t.Errorf("a false alarm: %s", line)
					}
					if looks == "two looks" && strings.HasPrefix(line, "unknown") && !strings.Contains(line, "member list") {
						t.Errorf("metrics can tell: %s", line)
					}
				}
			})
		}
	}
}

func started(t *testing.T, body []byte) time.Time {
	t.Helper()
	in := bufio.NewScanner(bytes.NewReader(body))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if v, ok := strings.CutPrefix(in.Text(), "process_start_time_seconds "); ok {
			s, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.Unix(int64(s), 0)
		}
	}
	t.Fatal("no start time")
	return time.Time{}
}
