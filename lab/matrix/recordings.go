package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/faults"
)

// Expectation is kept beside a recording: what a ktriage that reads it must say.
// Those who have no lab can hold it to that.
type Expectation struct {
	// First lists the problems that may come first; of a healthy cluster there
	// are none.
	First []faults.Problem `json:"first,omitempty"`
	// Also lists the checks that may be problems of their own beside it.
	Also []string `json:"also,omitempty"`
	Doc  string   `json:"doc"`
}

func recording(dir string, f faults.Fault) string { return filepath.Join(dir, f.Name+".tar.gz") }

func saveExpectation(dir string, f faults.Fault) error {
	e := Expectation{Also: f.Also, Doc: f.Doc}
	if !f.Healthy() {
		e.First = append([]faults.Problem{f.Want}, f.Or...)
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.Name+".json"), append(text, '\n'), 0o644)
}

// Rejudge is Run on recordings of an earlier run, without a lab. Faults without
// one are left out.
func Rejudge(ctx context.Context, c Config, dir string, list []faults.Fault) []Result {
	m := &runner{Config: c}
	var results []Result
	for _, f := range list {
		if ctx.Err() != nil {
			break
		}
		if _, err := os.Stat(recording(dir, f)); err != nil {
			fmt.Fprintf(c.Progress, "no recording of %s\n", f.Name)
			continue
		}
		r := Result{Fault: f}
		if r.Report, r.Err = run(ctx, c.Ktriage, os.DevNull, "--from", recording(dir, f)); r.Err == nil {
			r.Report.Recorded = true
			r.Wrong = Judge(r.Report, f)
			r.Err = saveExpectation(dir, f)
		}
		results = append(results, r)
		m.tell(r)
	}
	return results
}
