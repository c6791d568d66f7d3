package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/redact"
	"github.com/ktriage/ktriage/internal/cli"
)

// TestARecordingJudgesTheSameWhenItIsRedacted takes every recording. One in which
// nothing is replaced is the same; others, and some of the rest, are written anew
// with all that can be replaced replaced, and judged both ways.
func TestARecordingJudgesTheSameWhenItIsRedacted(t *testing.T) {
	files, err := filepath.Glob("testdata/recordings/*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for n, file := range files {
		if n%42 != 0 && !replaces(t, file) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "r.tar.gz")
			if code, _, errs := invoke("capture", "--from", file, "-o", out, "--redact-ips"); code != cli.ExitOK && code != cli.ExitUnknown {
				t.Fatalf("capture: %d %s", code, errs)
			}
			_, before, _ := invoke("doctor", "--from", file, "-o", "json", "--fail-on", "never")
			_, after, _ := invoke("doctor", "--from", out, "-o", "json", "--fail-on", "never")
			if d := cmp.Diff(before, strings.ReplaceAll(after, out, file)); d != "" {
				t.Error(d)
			}
			if code, shown, errs := invoke("capture", "--inspect", out); code != cli.ExitOK || !strings.Contains(shown, "Secrets: they are not asked for") {
				t.Errorf("%d %s %s", code, shown, errs)
			}
		})
	}
}

// replaces reports whether anything in a recording is replaced.
func replaces(t *testing.T, file string) bool {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := capture.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New(true)
	for x := range rec.All() {
		r.String(x.Request.Key())
		r.Bytes(x.Body)
		if x.Gap != nil {
			r.String(x.Gap.Detail)
		}
	}
	for _, c := range r.Counts() {
		t.Logf("%s: %d of %s", filepath.Base(file), c.Places, c.Kind)
	}
	return len(r.Counts()) > 0
}

func invoke(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	code := cli.Main(cli.Invocation{
		Args: append([]string{"ktriage"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	return code, out.String(), errs.String()
}
