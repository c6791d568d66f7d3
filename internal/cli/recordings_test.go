package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktriage/ktriage/internal/cli"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// A verdict names a check and, in an expectation that does not mind which, no
// target.
type verdict struct {
	Check   string `json:"check"`
	Target  string `json:"target"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
}

// TestRecordings judges real clusters again, well and broken, that lab matrix
// has recorded: the first problem is the cause, and nothing stands beside it.
func TestRecordings(t *testing.T) {
	var expectations []string
	// Those of other lines of Kubernetes are in folders of their own.
	for _, pattern := range []string{"testdata/recordings/*.json", "testdata/recordings/*/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		expectations = append(expectations, files...)
	}
	if len(expectations) == 0 {
		t.Error("there are no recordings")
	}
	for _, file := range expectations {
		name := strings.TrimSuffix(file, ".json")
		t.Run(strings.TrimPrefix(name, "testdata/recordings/"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				First []verdict `json:"first"`
				Also  []string  `json:"also"`
				Doc   string    `json:"doc"`
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Problems []verdict `json:"problems"`
			}
			judgeRecording(t, name+".tar.gz", &got)
			if len(got.Problems) == 0 {
				if len(want.First) > 0 {
					t.Errorf("nothing found: %s", want.Doc)
				}
				return
			}
			is := func(p verdict) bool {
				return slices.ContainsFunc(want.First, func(w verdict) bool {
					return w.Check == p.Check && (w.Target == "" || w.Target == p.Target)
				})
			}
			if first := got.Problems[0]; len(want.First) > 0 && !is(first) {
				t.Errorf("got first %s of %s, want one of %v: %s", first.Check, first.Target, want.First, want.Doc)
			}
			for _, p := range got.Problems {
				own := slices.ContainsFunc(want.First, func(w verdict) bool { return w.Check == p.Check })
				if !own && !slices.Contains(want.Also, p.Check) {
					t.Errorf("%s of %s stands alone: %s", p.Check, p.Target, p.Summary)
				}
			}
		})
	}
}

func judgeRecording(t *testing.T, file string, into any) {
	t.Helper()
	if err := judged(file, into); err != nil {
		t.Fatal(err)
	}
}

// reports are what was judged, by file: two tests want them, and it takes a while.
var reports sync.Map // of func() ([]byte, error)

// judged reads the report of a run on a recording.
func judged(file string, into any) error {
	once, _ := reports.LoadOrStore(file, sync.OnceValues(func() ([]byte, error) {
		var out, errs bytes.Buffer
		exit := cli.Main(cli.Invocation{
			Args:   []string{"ktriage", "doctor", "--from", file, "-o", "json"},
			Stdin:  strings.NewReader(""),
			Stdout: &out, Stderr: &errs,
			Getenv: func(string) string { return "" },
			Now:    time.Now,
		})
		if !json.Valid(out.Bytes()) {
			return nil, fmt.Errorf("%s: exit code %d, no report:\n%s", file, exit, errs.String())
		}
		schema, err := os.ReadFile("../../docs/report.schema.json")
		if err != nil {
			return nil, err
		}
		if err := reporttest.Validate(schema, out.Bytes()); err != nil {
			return nil, fmt.Errorf("%s: the report is not as its schema says: %w", file, err)
		}
		return out.Bytes(), nil
	}))
	report, err := once.(func() ([]byte, error))()
	if err != nil {
		return err
	}
	return json.Unmarshal(report, into)
}
