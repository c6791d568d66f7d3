// Package matrix tries ktriage on every fault there is, and on healthy clusters
// of every shape: the measure of whether its first line is the true cause.
package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/faults"
)

// Config says what to try and how.
type Config struct {
	// Ktriage is the program under test.
	Ktriage string
	// Base are the options of the labs, but for what a fault needs.
	Base cluster.Options
	// Up starts a lab.
	Up func(context.Context, cluster.Options) (*cluster.Lab, error)
	// RecordDir, if set, gets a recording of each fault.
	RecordDir string
	// Progress gets what happens, line by line.
	Progress io.Writer
	// Verbose shows each report whole, not only those that are wrong.
	Verbose bool
}

// Result is what came of one fault.
type Result struct {
	Fault  faults.Fault
	Report Report
	// Wrong lists what is wrong with the report.
	Wrong []string
	// Err is why there is no report to judge.
	Err error
	// Effect is how long the fault took to show.
	Effect time.Duration
}

// Right says whether ktriage was.
func (r Result) Right() bool { return r.Err == nil && len(r.Wrong) == 0 }

// Run tries all faults, one after another. Those that need no lab of their own
// share one, which is replaced when one leaves scars.
func Run(ctx context.Context, c Config, list []faults.Fault) []Result {
	m := &runner{Config: c}
	defer func() {
		if err := m.down(ctx); err != nil {
			fmt.Fprintln(c.Progress, err)
		}
	}()
	var results []Result
	for _, f := range list {
		if ctx.Err() != nil {
			break
		}
		r := m.try(ctx, f)
		results = append(results, r)
		m.tell(r)
	}
	return results
}

type runner struct {
	Config
	lab *cluster.Lab
	// options are those that lab was made with.
	options cluster.Options
}

func (m *runner) try(ctx context.Context, f faults.Fault) Result {
	r := Result{Fault: f}
	if r.Err = m.ready(ctx, f.Options(m.Base)); r.Err != nil {
		return r
	}
	start := time.Now()
	r.Err = faults.Inject(ctx, m.lab, f)
	r.Effect = time.Since(start)
	if r.Err == nil {
		flags := EtcdFlags(m.lab)
		if m.RecordDir != "" {
			flags = append(flags, "--record", recording(m.RecordDir, f))
		}
		r.Report, r.Err = Doctor(ctx, m.Ktriage, m.lab, flags...)
	}
	if r.Err == nil {
		r.Wrong = Judge(r.Report, f)
		if m.RecordDir != "" {
			r.Err = saveExpectation(m.RecordDir, f)
		}
	}
	// A lab that a fault had to itself, that has scars, or that cannot be mended,
	// is no use to the next one.
	if f.Lab != nil || f.Scars || faults.Heal(ctx, m.lab) != nil {
		r.Err = errors.Join(r.Err, m.down(ctx))
	}
	return r
}

// ready makes sure that there is a healthy lab with these options.
func (m *runner) ready(ctx context.Context, want cluster.Options) error {
	if m.lab != nil && reflect.DeepEqual(m.options, want) {
		return nil
	}
	if err := m.down(ctx); err != nil {
		return err
	}
	lab, err := m.Up(ctx, want)
	if err != nil {
		return errors.Join(err, cluster.Down(ctx, want.Dir))
	}
	m.lab, m.options = lab, want
	return nil
}

func (m *runner) down(ctx context.Context) error {
	if m.lab == nil {
		return nil
	}
	dir := m.lab.Options.Dir
	m.lab = nil
	// What was begun is taken down, whatever ended the run.
	return cluster.Down(context.WithoutCancel(ctx), dir)
}

func (m *runner) tell(r Result) {
	verdict := "right"
	if !r.Right() {
		verdict = "WRONG"
	}
	fmt.Fprintf(m.Progress, "%s %s: %s (effect after %.0f s, told in %.1f s)\n",
		verdict, r.Fault.Name, r.first(), r.Effect.Seconds(), r.Report.Took.Seconds())
	for _, w := range r.Wrong {
		fmt.Fprintf(m.Progress, "\t%s\n", w)
	}
	if r.Err == nil && (m.Verbose || !r.Right()) {
		fmt.Fprintf(m.Progress, "\t%s\n", strings.ReplaceAll(strings.TrimSpace(r.Report.String()), "\n", "\n\t"))
	}
}

// first is the first problem, in words.
func (r Result) first() string {
	switch {
	case r.Err != nil:
		return "not tried: " + r.Err.Error()
	case len(r.Report.Problems) == 0:
		return "nothing found"
	}
	p := r.Report.Problems[0]
	return fmt.Sprintf("%s of %s: %s", p.Check, p.Target, p.Summary)
}
