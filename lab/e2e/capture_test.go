package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/lab/matrix"
)

// leaky is a namespace with what people put where it does not belong.
const leaky = `
apiVersion: v1
kind: Namespace
metadata: {name: leaky}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: leaky}
stringData: {password: planted-in-a-secret}
---
apiVersion: v1
kind: Pod
metadata:
  name: leaky
  namespace: leaky
  annotations: {owner: "jane.planted@example.com", example.com/key: planted-in-an-annotation}
spec:
  schedulerName: nobodys
  containers:
  - name: a
    image: x
    args: ["--token=planted-in-an-argument"]
    env: [{name: API_KEY, value: planted-in-the-environment}]
---
apiVersion: v1
kind: Event
metadata: {name: leaky.1, namespace: leaky}
involvedObject: {kind: Pod, namespace: leaky, name: leaky}
reason: FailedMount
type: Warning
message: "Authorization: Bearer plantedintothemessage1 of jane.planted@example.com from 203.0.114.77, password=planted-in-a-message"
firstTimestamp: "2026-01-01T04:00:00Z"
lastTimestamp: "2026-01-01T04:00:00Z"
count: 3
`

// judged is the greatest exit code of a run that judged what it saw.
const judged = 3

// TestCaptureIsFitToHandOn records a cluster in which secrets lie about, and holds
// that none is in the file, that its manifest says what was taken out, and that the
// recording is judged, with the logs that are in it.
func TestCaptureIsFitToHandOn(t *testing.T) {
	bin := ktriage(t)
	lab := theLab.get(t)
	dir := t.TempDir()
	objects := filepath.Join(dir, "leaky.yaml")
	if err := os.WriteFile(objects, []byte(leaky), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := kubectlCommand(context.Background(), lab, "delete", "namespace", "leaky", "--timeout=2m").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	kubectl(t, lab, "apply", "-f", objects)
	file := filepath.Join(dir, "x.tar.gz")
	run := func(args ...string) (string, string, int) {
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+lab.Options.Kubeconfig())
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	_, errs, code := run(append([]string{"capture", "-o", file, "--redact-ips", "--window", "5s", "--timeout", "3m"}, matrix.EtcdFlags(lab)...)...)
	if code > judged {
		t.Fatalf("capture: exit code %d: %s", code, errs)
	}
	whole := unpack(t, file)
	if !bytes.Contains(whole, []byte("FailedMount")) {
		t.Error("the event is not in it, so that nothing is shown")
	}
	for _, secret := range []string{"planted", "203.0.114.77", "PRIVATE KEY"} {
		if i := bytes.Index(whole, []byte(secret)); i >= 0 {
			t.Errorf("%s is in it: %s", secret, whole[max(0, i-100):min(len(whole), i+100)])
		}
	}
	shown, errs, code := run("capture", "--inspect", file)
	if code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{"logs, lines", "e-mail address replaced in", "public IP address replaced in", "token replaced in", "password replaced in", "Secrets: they are not asked for"} {
		if !strings.Contains(shown, want) {
			t.Errorf("--inspect does not say %q:\n%s", want, shown)
		}
	}
	report, errs, code := run("doctor", "--from", file, "-v")
	if code > judged || strings.Contains(report, "no logs were given") || !strings.Contains(report, "etcd-log-") {
		t.Errorf("exit code %d: %s\n%s", code, errs, report)
	}
}

// unpack is all that is in an archive, one after the other.
func unpack(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	r := tar.NewReader(z)
	for {
		switch _, err := r.Next(); {
		case err == io.EOF:
			return all.Bytes()
		case err != nil:
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, r); err != nil {
			t.Fatal(err)
		}
	}
}
