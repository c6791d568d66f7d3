package text

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/internal/report/reporttest"
	"github.com/ktriage/ktriage/internal/term"
)

var update = flag.Bool("update", false, "write what is rendered into testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func render(t *testing.T, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, reporttest.Sample(), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	golden(t, "report.txt", render(t, Options{}))
	golden(t, "verbose.txt", render(t, Options{Verbose: true, Advice: true}))
	golden(t, "color.txt", render(t, Options{Color: true}))
}

func TestTextFitsAndIsSafe(t *testing.T) {
	for line := range strings.SplitSeq(string(render(t, Options{})), "\n") {
		// A command is one line, to be copied whole.
		if term.Columns(line) > 80 && !strings.Contains(line, "$ ") {
			t.Errorf("%d columns: %s", term.Columns(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
			t.Errorf("a control character reached the terminal: %q", line)
		}
	}
}

func TestColorIsNeverTheOnlyCarrier(t *testing.T) {
	plain := string(render(t, Options{}))
	colored := string(render(t, Options{Color: true}))
	var b strings.Builder
	escape := false
	for _, r := range colored {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			b.WriteRune(r)
		}
	}
	if diff := cmp.Diff(plain, b.String()); diff != "" {
		t.Errorf("-plain +colored without codes:\n%s", diff)
	}
}
