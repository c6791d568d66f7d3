package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"k8s.io/client-go/tools/clientcmd"
)

// These tests try the lab itself, with the tools that people use.

func TestKubectlSeesReadyNodesAndDeployments(t *testing.T) {
	lab := theLab.get(t)
	nodes := strings.Fields(kubectl(t, lab, "get", "nodes", "-o", `jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {end}`))
	if got, want := len(nodes), lab.Options.ControlPlanes+lab.Options.Workers; got != want {
		t.Errorf("got %d nodes, want %d", got, want)
	}
	for _, status := range nodes {
		if status != "True" {
			t.Errorf("got a node with Ready=%s", status)
		}
	}
	for _, line := range strings.Fields(kubectl(t, lab, "get", "deployments", "-A", "-o", `jsonpath={range .items[*]}{.metadata.name}:{.spec.replicas}:{.status.availableReplicas} {end}`)) {
		if part := strings.Split(line, ":"); part[1] != part[2] {
			t.Errorf("deployment %s: got %s of %s replicas", part[0], part[2], part[1])
		}
	}
}

func TestPortForwardReachesASchedulerOnLoopback(t *testing.T) {
	lab := theLab.get(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := kubectlCommand(ctx, lab, "-n", "kube-system", "port-forward", "kube-scheduler-cp-1", ":10259")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cancel()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	port := regexp.MustCompile(`127\.0\.0\.1:(\d+)`).FindStringSubmatch(line)
	if port == nil {
		t.Fatalf("no port in %q", line)
	}
	config, err := clientcmd.BuildConfigFromFlags("", lab.Options.TokenKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+port[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+config.BearerToken)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), "\nscheduler_pending_pods{") {
		t.Errorf("got %s, want metrics with scheduler_pending_pods: %.200s", resp.Status, body)
	}
}

func TestLogsReachEtcd(t *testing.T) {
	lab := theLab.get(t)
	line := kubectl(t, lab, "-n", "kube-system", "logs", "etcd-cp-1", "--tail=1")
	if !strings.HasPrefix(line, `{"level":`) {
		t.Errorf("got %q, want a line of etcd's log", line)
	}
}

func TestEtcdMembersAgreeOnALeader(t *testing.T) {
	lab := theLab.get(t)
	out, err := lab.Etcdctl(t.Context(), "endpoint", "status", "-w", "json")
	if err != nil {
		t.Fatal(err)
	}
	var statuses []struct {
		Status struct {
			Leader uint64 `json:"leader"`
		}
	}
	if err := json.Unmarshal([]byte(out), &statuses); err != nil {
		t.Fatal(err)
	}
	if got, want := len(statuses), lab.Options.EtcdMembers; got != want {
		t.Fatalf("got %d members, want %d", got, want)
	}
	for _, s := range statuses {
		if s.Status.Leader == 0 || s.Status.Leader != statuses[0].Status.Leader {
			t.Errorf("got leaders %x and %x", statuses[0].Status.Leader, s.Status.Leader)
		}
	}
}

func TestKubeconfigsHaveTheirRights(t *testing.T) {
	lab := theLab.get(t)
	for _, tt := range []struct {
		kubeconfig        string
		metrics, services bool
	}{
		{lab.Options.Kubeconfig(), true, true},
		{lab.Options.ReadOnlyKubeconfig(), false, true},
		{lab.Options.TokenKubeconfig(), true, true},
	} {
		for path, want := range map[string]bool{"/metrics": tt.metrics, "/api/v1/services": tt.services, "/api/v1/secrets": tt.kubeconfig == lab.Options.Kubeconfig()} {
			cmd := exec.CommandContext(t.Context(), "kubectl", "--kubeconfig", tt.kubeconfig, "get", "--raw", path)
			if out, err := cmd.CombinedOutput(); (err == nil) != want {
				t.Errorf("%s: get %s: got %v, want allowed %v: %.200s", tt.kubeconfig, path, err, want, out)
			}
		}
	}
}

func kubectl(t *testing.T, lab *cluster.Lab, args ...string) string {
	t.Helper()
	var errs strings.Builder
	cmd := kubectlCommand(t.Context(), lab, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

func kubectlCommand(ctx context.Context, lab *cluster.Lab, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("KUBECONFIG=%s", lab.Options.Kubeconfig()))
	return cmd
}
