package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPendingOfRecordings holds what is told of pods that waited in a real cluster,
// with its own scheduler's word on them, against what was read aloud once.
func TestPendingOfRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/pending/*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".tar.gz")
		t.Run(filepath.Base(name), func(t *testing.T) {
			var out, errs bytes.Buffer
			exit := Main(Invocation{
				Args:  []string{"ktriage", "pending", "--from", file},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
				Getenv: func(string) string { return "" }, Now: time.Now,
			})
			if exit != ExitOK || errs.Len() > 0 {
				t.Fatalf("exit code %d: %s", exit, errs.String())
			}
			if *updateReadme {
				if err := os.WriteFile(name+".txt", out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
