package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// report is what these tests read of ktriage's JSON.
type report struct {
	Status   string    `json:"status"`
	Problems []problem `json:"problems"`
	Findings []finding `json:"findings"`

	exit   int
	stderr string
}

type problem struct {
	Check    string    `json:"check"`
	Target   string    `json:"target"`
	Status   string    `json:"status"`
	Summary  string    `json:"summary"`
	Symptoms []finding `json:"symptoms"`
}

type finding struct {
	Check   string `json:"check"`
	Target  string `json:"target"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Gap     *gap   `json:"gap"`
}

type gap struct {
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy"`
}

// exitOK is how ktriage doctor exits when it has nothing to complain about.
const exitOK = 0

// ktriage is the program under test. A test calls it first: without one there is
// no need for a lab.
func ktriage(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("KTRIAGE_BIN")
	if bin == "" {
		t.Skip("KTRIAGE_BIN does not name the ktriage to test")
	}
	return bin
}

// doctorTimeout is far above what a run may take.
const doctorTimeout = 2 * time.Minute

// doctor runs ktriage doctor with the administrator's kubeconfig.
func doctor(t *testing.T, lab *cluster.Lab, flags ...string) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), doctorTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, ktriage(t), append([]string{"doctor", "-o", "json"}, flags...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+lab.Options.Kubeconfig())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run ktriage: %v", err)
	}
	r := report{exit: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	decoder := json.NewDecoder(&stdout)
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("ktriage exits %d and prints no report: %v\n%s", r.exit, err, r.stderr)
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("ktriage prints more than one document")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the report was:\n%s", r)
		}
	})
	return r
}

// etcdFlags are those that let ktriage ask etcd itself.
func etcdFlags(lab *cluster.Lab) []string {
	o := lab.Options
	return []string{
		"--etcd-endpoints", strings.Join(o.EtcdEndpoints(), ","), "--etcd-cacert", o.EtcdCA(),
		"--etcd-cert", o.EtcdClient() + ".crt", "--etcd-key", o.EtcdClient() + ".key",
	}
}

// String is the report as short as a failed test's reader wants it.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "status %s, exit code %d\n", r.Status, r.exit)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem %s %s %s: %s\n", p.Status, p.Check, p.Target, p.Summary)
		for _, s := range p.Symptoms {
			fmt.Fprintf(&b, "    symptom %s %s %s\n", s.Status, s.Check, s.Target)
		}
	}
	for _, f := range r.Findings {
		if f.Status == "ok" {
			continue
		}
		fmt.Fprintf(&b, "finding %s %s %s: %s", f.Status, f.Check, f.Target, f.Summary)
		if f.Gap != nil {
			fmt.Fprintf(&b, " (%s: %s; %s)", f.Gap.Reason, f.Gap.Detail, f.Gap.Remedy)
		}
		b.WriteByte('\n')
	}
	return b.String() + r.stderr
}
