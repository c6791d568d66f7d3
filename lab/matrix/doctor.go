package matrix

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
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// Report is what is read of ktriage's JSON.
type Report struct {
	Status   string    `json:"status"`
	Problems []Problem `json:"problems"`
	Findings []Finding `json:"findings"`
	// Seconds is how long the run on the cluster took, also of a recording.
	Seconds float64 `json:"durationSeconds"`

	// Exit and Stderr are those of the program.
	Exit   int           `json:"-"`
	Stderr string        `json:"-"`
	Took   time.Duration `json:"-"`
	// Recorded says that it is of a recording, not of a cluster.
	Recorded bool `json:"-"`
}

// Problem is one cause with what follows from it.
type Problem struct {
	Finding
	Symptoms []Finding `json:"symptoms"`
}

// Finding is one check's verdict on one target.
type Finding struct {
	Check   string `json:"check"`
	Target  string `json:"target"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Gap     *Gap   `json:"gap"`
}

// Gap is why a thing is unknown.
type Gap struct {
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy"`
}

// How ktriage doctor exits when it has nothing to complain about, and when there
// is something that it could not judge.
const (
	ExitOK      = 0
	exitUnknown = 3
)

// doctorTimeout is far above what a run may take.
const doctorTimeout = 2 * time.Minute

// Doctor runs ktriage doctor with the lab administrator's kubeconfig.
func Doctor(ctx context.Context, ktriage string, lab *cluster.Lab, flags ...string) (Report, error) {
	return run(ctx, ktriage, lab.Options.Kubeconfig(), flags...)
}

func run(ctx context.Context, ktriage, kubeconfig string, flags ...string) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, ktriage, append([]string{"doctor", "-o", "json"}, flags...)...)
	cmd.Env = append(withoutEtcd(os.Environ()), "KUBECONFIG="+kubeconfig)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Report{}, fmt.Errorf("run ktriage: %w", err)
	}
	r := Report{Exit: cmd.ProcessState.ExitCode(), Stderr: stderr.String(), Took: time.Since(start)}
	decoder := json.NewDecoder(&stdout)
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("ktriage exits %d and prints no report: %w\n%s", r.Exit, err, r.Stderr)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return r, errors.New("ktriage prints more than one document")
	}
	return r, nil
}

// withoutEtcd leaves out what a shell may have set for another lab's etcd.
func withoutEtcd(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "ETCDCTL_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// EtcdFlags are those that let ktriage ask etcd itself.
func EtcdFlags(lab *cluster.Lab) []string {
	o := lab.Options
	return []string{
		"--etcd-endpoints", strings.Join(o.EtcdEndpoints(), ","), "--etcd-cacert", o.EtcdCA(),
		"--etcd-cert", o.EtcdClient() + ".crt", "--etcd-key", o.EtcdClient() + ".key",
	}
}

// String is the report as short as its reader wants it when something is wrong.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "status %s, exit code %d\n", r.Status, r.Exit)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem %s %s %s: %s\n", p.Status, p.Check, p.Target, p.Summary)
		for _, s := range p.Symptoms {
			fmt.Fprintf(&b, "    symptom %s %s %s: %s\n", s.Status, s.Check, s.Target, s.Summary)
		}
	}
	for _, f := range r.Findings {
		if f.Status == "ok" || f.Status == "info" || f.Status == "outOfScope" {
			continue
		}
		fmt.Fprintf(&b, "finding %s %s %s: %s", f.Status, f.Check, f.Target, f.Summary)
		if f.Gap != nil {
			fmt.Fprintf(&b, " (%s: %s; %s)", f.Gap.Reason, f.Gap.Detail, f.Gap.Remedy)
		}
		b.WriteByte('\n')
	}
	return b.String() + r.Stderr
}
