package cli

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var updateReadme = flag.Bool("update", false, "write what the demonstration prints into README.md")

// TestReadmeShowsWhatTheDemoPrints keeps the output in README real.
func TestReadmeShowsWhatTheDemoPrints(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main(Invocation{Args: []string{"ktriage", "doctor", "--from", "demo"}, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Time{} }})
	if code != ExitCritical || errs.Len() > 0 {
		t.Fatalf("exit code %d, standard error %q", code, errs.String())
	}
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- demo -->\n", "<!-- /demo -->"
	before, rest, ok := strings.Cut(string(b), begin)
	shown, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the demonstration")
	}
	want := "```\n" + out.String() + "```\n"
	if *updateReadme {
		if err := os.WriteFile("../../README.md", []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("README.md shows other output (-demo +README); go test ./internal/cli -update:\n%s", diff)
	}
}
