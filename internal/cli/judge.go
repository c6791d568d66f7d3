package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/internal/pending"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/vitals"
)

// maxWindow is how far a run's window grows while a rule that looks bad lacks
// observations to be sure.
const maxWindow = 30 * time.Second

// A judgement is one run: from a source to a report.
type judgement struct {
	checks   []*checks.Check
	recorder *capture.Recorder // may be nil
	more     []collectors.Any  // facts to record besides
}

// judge collects, judges and makes the report. It does not fail: what could not
// be had is in the report. A context that ends early ends collection only.
func (a *app) judge(ctx context.Context, o *origin, f *sourceFlags, j judgement) (*report.Report, capture.Meta) {
	j.checks = onNode(j.checks, o.node)
	started, window := a.Now(), f.window
	if o.meta != nil {
		started, window = o.meta.StartedAt, seconds(o.meta.WindowSeconds)
	}
	ctx, cancel := deadline(ctx, f)
	defer cancel()
	p := a.progress(o, window)
	opts := collectors.Options{Progress: p.update}
	if j.recorder != nil {
		opts.Recorder = j.recorder
	}
	facts := checks.Facts(j.checks)
	if !o.node {
		facts = slices.Concat(report.Facts, facts, vitals.Facts())
	}
	if j.recorder != nil && !o.node {
		facts = append(facts, pending.Facts()...) // for ktriage pending --from
	}
	facts = append(facts, j.more...)
	c := collectors.Collect(ctx, o.source, started, window, opts, facts...)
	snap := c.Snapshot
	findings := checks.RunWith(snap, j.checks, a.conf.tuned.Tuning)
	if o.meta == nil && ctx.Err() == nil && window < maxWindow && wantsMore(findings) {
		p.note("watching up to 30s: too few observations to be sure")
		snap = c.Extend(ctx, maxWindow)
		findings = checks.RunWith(snap, j.checks, a.conf.tuned.Tuning)
	}
	p.done()
	m := capture.Meta{
		Tool: version(), Source: o.name, StartedAt: started.UTC(), DurationSeconds: a.Now().Sub(started).Round(time.Millisecond).Seconds(),
		WindowSeconds: snap.Window.Seconds(), Cost: o.cost(), Node: o.node,
	}
	if o.meta != nil {
		m = *o.meta
	}
	return report.New(report.Run{
		Version: version(), Source: o.name, Duration: seconds(m.DurationSeconds), Cost: m.Cost,
		Snapshot: snap, Checks: j.checks, Findings: findings, Vitals: vitals.Read(snap),
		Suppressions: a.conf.tuned.Suppressions, Off: a.off(j.checks),
	}), m
}

// wantsMore reports whether a longer look could change what is told first: a
// rule looks bad and is not sure, and nothing worse is certain already. Who has
// a control plane that fails is not kept waiting for a second opinion.
func wantsMore(fs []checks.Finding) bool {
	return slices.ContainsFunc(fs, func(f checks.Finding) bool { return f.Thin }) &&
		!slices.ContainsFunc(fs, func(f checks.Finding) bool { return f.Status == checks.Critical && !f.Thin })
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// recordTo starts a recording in a file beside path, that takes path's place
// when finish is called, and goes away if it is not.
func recordTo(path string) (rec *capture.Recorder, finish func(capture.Meta) error, abandon func(), err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".ktriage-*")
	if err != nil {
		return nil, nil, nil, err
	}
	abandon = func() {
		file.Close()
		os.Remove(file.Name())
	}
	rec = capture.NewRecorder(file)
	finish = func(m capture.Meta) error {
		if err := rec.Close(m); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		return os.Rename(file.Name(), path)
	}
	return rec, finish, abandon, nil
}

// all lists every check.
func all() []*checks.Check { return suite.All() }

// depth leaves out the checks that are run on demand only, unless they are
// demanded, all or by their name.
func depth(cs []*checks.Check, deep bool, named ...string) []*checks.Check {
	return slices.DeleteFunc(slices.Clone(cs), func(c *checks.Check) bool {
		return c.Deep && !deep && !slices.Contains(named, string(c.ID))
	})
}
