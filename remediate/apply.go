package remediate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// A Look collects fresh facts for the given checks and judges them.
type Look func(context.Context, []*checks.Check) []checks.Finding

// A Clock tells and waits. Sleep returns early, with an error, if ctx ends.
type Clock interface {
	Now() time.Time
	Sleep(context.Context, time.Duration) error
}

// A Lock keeps other runs out.
type Lock interface {
	// Held returns an error if it cannot be sure any more that it does.
	Held() error
}

// A Run is what it takes to apply a plan.
type Run struct {
	Plan    *Plan
	Look    Look
	State   func(context.Context) (State, error) // of the cluster as it is now
	Do      Actuator
	Clock   Clock
	Lock    Lock
	Journal *Journal
	Who     Who
	Resume  *Standing                     // nil for a plan that was not begun before
	Say     func(format string, a ...any) // progress, for the operator
}

// A Halt is why a run did not go on. Nothing was left half done by ktriage: an
// action that was begun was waited for, or its end is not known and Unsure says so.
type Halt struct {
	Step    int  // from 1; 0 if no step was come to
	Touched bool // something was changed, by this run or, once it began, by the one that it resumes
	Unsure  bool // whether the action of the step was carried out is not known
	Asked   bool // the operator stopped it
	Acted   bool // the action of the step was carried out, and the cluster not seen to be whole after it
	Err     error
}

// Error tells where it stands.
func (h *Halt) Error() string {
	where := "this run changed nothing"
	switch {
	case h.Unsure:
		where = fmt.Sprintf("whether step %d was carried out is not known", h.Step)
	case h.Acted:
		where = fmt.Sprintf("step %d was carried out, and after it the cluster was not seen to be whole", h.Step)
	case h.Touched && h.Step > 0:
		where = fmt.Sprintf("stopped at step %d, the steps before it are done", h.Step)
	}
	return fmt.Sprintf("%v (%s)", h.Err, where)
}

// Unwrap returns the reason.
func (h *Halt) Unwrap() error { return h.Err }

// errAsked is the reason of a run that the operator stopped.
var errAsked = errors.New("stopped as asked")

// Apply takes the steps in order. It stops at the first that is not allowed,
// fails, or after which the cluster does not become whole. When ctx ends it
// stops too, but never in the middle of an action: that is waited for.
func (r *Run) Apply(ctx context.Context) error {
	if err := r.Admit(ctx); err != nil {
		return err
	}
	if err := r.write(Record{Event: Began, Recipe: r.Plan.Recipe, Who: &r.Who}); err != nil {
		return &Halt{Err: err}
	}
	g, touched := newGate(r.Plan), false
	for i, s := range r.Plan.Steps {
		n := i + 1
		if r.Resume != nil {
			if size := r.Resume.Sizes[n]["size"]; s.Action.Kind == Defragment && size > 0 {
				g.before[s.Action.Target.Name] = size
			}
			if r.Resume.Done[n] {
				g.done(s.Action, r.Resume.Took[n])
				touched = true
				r.say("step %d of %d was done before: %s", n, len(r.Plan.Steps), describe(s))
				r.lost(ctx, g, s)
				continue
			}
			touched = touched || r.Resume.Open[n]
		}
		changed, err := r.step(ctx, g, n, s, touched)
		touched = touched || changed
		if err != nil {
			return err
		}
	}
	return r.write(Record{Event: Ended})
}

// lost tells of a step that was done and whose effect is gone: a member that was
// away for long gets the leader's file, free pages and all. Its turn has passed,
// and it may lead by now: it takes a new plan.
func (r *Run) lost(ctx context.Context, g *gate, s Step) {
	if s.Action.Kind != Defragment {
		return
	}
	c := []*checks.Check{g.shrunk(s.Action.Target.Name)}
	var d *Denied
	if errors.As(demand(c, r.Look(ctx, c)), &d) && d.Finding.Status.Bad() {
		r.say("%s has lost what it gave back, as one does that was away for long: make a new plan when this one is done", s.Action.Target.Name)
	}
}

// Admit refuses a plan that is stale, or not for this cluster in this state.
// Apply does so too: by itself it is for what must be known before the lock.
func (r *Run) Admit(ctx context.Context) error {
	p := r.Plan
	switch age := r.Clock.Now().Sub(p.Created); {
	case age < -time.Minute:
		return r.refuse(0, fmt.Errorf("the plan is from the future: it was made at %s", p.Created.Format(time.RFC3339)))
	case r.Resume == nil && age > time.Duration(p.ValidFor):
		return r.refuse(0, fmt.Errorf("the plan is %s old, and was valid for %s: make a new one", checks.Span(age), p.ValidFor))
	}
	now, err := r.State(ctx)
	if err != nil {
		return r.refuse(0, fmt.Errorf("the state of the cluster is not known: %w", err))
	}
	want := p.State
	if r.Resume != nil {
		want = r.expected(now)
	}
	if diff := want.Differences(now); len(diff) > 0 {
		return r.refuse(0, fmt.Errorf("the cluster is not as it was when the plan was made: %s", strings.Join(diff, "; ")))
	}
	return nil
}

// expected is the state that the plan's own steps lead to, as far as they were
// done or may have been.
func (r *Run) expected(now State) State {
	want := r.Plan.State
	for i, s := range r.Plan.Steps {
		n := i + 1
		switch {
		case s.Action.Kind == MoveLeader && r.Resume.Done[n]:
			want.Leader = s.Action.Args[ArgTo]
		case s.Action.Kind == MoveLeader && r.Resume.Open[n] && now.Leader == s.Action.Args[ArgTo]:
			want.Leader = now.Leader
		case s.Action.Kind == Disarm && r.Resume.Open[n]:
			want.Alarms = now.Alarms // its guards judge what is raised
		}
	}
	return want
}

// step carries out one step, and reports whether it changed something.
func (r *Run) step(ctx context.Context, g *gate, n int, s Step, touched bool) (changed bool, err error) {
	acted := r.Resume != nil && r.Resume.Acted[n]
	stop := func(err error) (bool, error) {
		if ctx.Err() != nil {
			err = errAsked
		}
		return changed, r.halt(&Halt{Step: n, Touched: touched || changed, Acted: acted, Err: err})
	}
	if err := r.wait(ctx, n, s); err != nil {
		return stop(err)
	}
	if ctx.Err() != nil {
		return stop(errAsked)
	}
	guards, clears := g.of(n - 1)
	switch {
	case !acted && r.Resume != nil && r.Resume.Open[n] && s.Action.Kind == MoveLeader:
		// Leadership may have arrived before the run was killed.
		acted = demand(clears, r.Look(ctx, clears)) == nil
	case acted && s.Action.Kind == Defragment:
		// A member that was away for long may have got the leader's file since.
		var d *Denied
		if errors.As(demand(clears, r.Look(ctx, clears)), &d) && d.Finding.Check == shrunkID {
			acted = false
		}
	}
	var took time.Duration
	var outcome Outcome
	if acted {
		r.say("step %d of %d was carried out before: %s", n, len(r.Plan.Steps), describe(s))
		took = r.Resume.Took[n]
	} else {
		fs := r.Look(ctx, guards)
		if err := demand(guards, fs); err != nil {
			return stop(err)
		}
		if err := r.Lock.Held(); err != nil {
			return stop(err)
		}
		if ctx.Err() != nil {
			return stop(errAsked)
		}
		before := numbers(fs, s.Action.Target)
		g.before[s.Action.Target.Name] = before["size"]
		if err := r.write(r.record(n, s, Record{Event: Began, Before: before})); err != nil {
			return stop(err)
		}
		r.say("step %d of %d: %s", n, len(r.Plan.Steps), describe(s))
		began := r.Clock.Now()
		outcome, err = r.Do.Do(context.WithoutCancel(ctx), s.Action)
		took = r.Clock.Now().Sub(began)
		if err != nil {
			var not *NotDone
			sure := errors.As(err, &not)
			e := &Halt{Step: n, Touched: touched || !sure, Unsure: !sure, Err: err}
			if werr := r.write(r.record(n, s, Record{Event: Failed, Seconds: took.Seconds(), Outcome: outcome, Error: err.Error()})); werr != nil {
				e.Err = errors.Join(err, werr)
			}
			return !sure, e
		}
		changed, acted = true, true
		if err := r.write(r.record(n, s, Record{Event: Acted, Seconds: took.Seconds(), Outcome: outcome})); err != nil {
			return stop(err)
		}
	}
	after, err := r.settle(ctx, n, s, clears)
	if err != nil {
		return stop(err)
	}
	g.done(s.Action, took)
	outcome = outcome.with(after, s.Action.Target)
	if err := r.write(r.record(n, s, Record{Event: Done, Seconds: took.Seconds(), After: numbers(after, s.Action.Target), Outcome: outcome})); err != nil {
		return stop(err)
	}
	return changed, nil
}

// wait waits until a step's time has come.
func (r *Run) wait(ctx context.Context, n int, s Step) error {
	text := s.Action.Args[ArgNotBefore]
	if text == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("step %d: %q is no time", n, text)
	}
	d := at.Sub(r.Clock.Now())
	if d <= 0 {
		return nil
	}
	r.say("step %d of %d waits until %s: before that it would be too early", n, len(r.Plan.Steps), at.Format("15:04:05 MST"))
	return r.Clock.Sleep(ctx, d)
}

// poll is how often is looked whether the cluster is whole.
const poll = 2 * time.Second

// settle waits, for as long as the operator wants to at least, until all that
// the step must bring about is seen.
func (r *Run) settle(ctx context.Context, n int, s Step, clears []*checks.Check) ([]checks.Finding, error) {
	began := r.Clock.Now()
	if s.Action.Kind == Defragment || s.Action.Kind == MoveLeader {
		if n < len(r.Plan.Steps) && r.Plan.Options.Settle > 0 {
			if err := r.Clock.Sleep(ctx, time.Duration(r.Plan.Options.Settle)); err != nil {
				return nil, err
			}
		}
	}
	for {
		fs := r.Look(ctx, clears)
		err := demand(clears, fs)
		if err == nil {
			return fs, nil
		}
		if r.Clock.Now().Sub(began) > time.Duration(r.Plan.Options.SettleLimit+r.Plan.Options.Settle) {
			return nil, fmt.Errorf("the cluster is not whole after %s: %w", checks.Span(r.Clock.Now().Sub(began)), err)
		}
		if err := r.Clock.Sleep(ctx, poll); err != nil {
			return nil, err
		}
	}
}

func (r *Run) halt(h *Halt) error {
	h.Asked = errors.Is(h.Err, errAsked)
	e := Refused
	if h.Asked {
		e = Stopped
	}
	if err := r.write(Record{Event: e, Step: h.Step, Error: h.Err.Error()}); err != nil {
		h.Err = errors.Join(h.Err, err)
	}
	return h
}

// refuse is halt before the first step, which the journal need not know: a
// plan that was refused can be applied when the reason is gone.
func (r *Run) refuse(n int, err error) error {
	return &Halt{Step: n, Err: err}
}

func (r *Run) write(x Record) error {
	x.At, x.Plan = r.Clock.Now().UTC(), r.Plan.Digest
	return r.Journal.write(x)
}

func (r *Run) record(n int, s Step, x Record) Record {
	t := s.Action.Target
	x.Step, x.Kind, x.Target = n, s.Action.Kind, &t
	return x
}

func (r *Run) say(format string, a ...any) {
	if r.Say != nil {
		r.Say(format, a...)
	}
}

// nowMark begins the mark of a verdict that tells what its target is since a step.
const nowMark = "now="

// with is an outcome together with what a look after the step found.
func (o Outcome) with(fs []checks.Finding, t collectors.Target) Outcome {
	for _, f := range fs {
		for _, m := range f.Marks {
			if now, ok := strings.CutPrefix(m, nowMark); ok && f.Target.Is(t) {
				o = maps.Clone(o)
				if o == nil {
					o = Outcome{}
				}
				o[OutNow] = now
			}
		}
	}
	return o
}

// numbers are the measurements of a target in what a look found.
func numbers(fs []checks.Finding, t collectors.Target) map[string]float64 {
	out := map[string]float64{}
	for _, f := range fs {
		if f.Target.Is(t) {
			for k, v := range f.Numbers {
				out[k] = v
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// demand returns an error unless each check has a verdict and every verdict is
// OK. Advice does not stop a step; unknown and out of scope do, since neither
// says that it is safe. Of several reasons, trouble that was seen comes first.
func demand(want []*checks.Check, fs []checks.Finding) error {
	judged := map[checks.ID]bool{}
	var worst *checks.Finding
	for i, f := range fs {
		judged[f.Check] = true
		if f.Status != checks.OK && f.Status != checks.Info && (worst == nil || f.Status > worst.Status) {
			worst = &fs[i]
		}
	}
	if worst != nil {
		return &Denied{*worst}
	}
	for _, c := range want {
		if !judged[c.ID] {
			return fmt.Errorf("%s gave no verdict", c.ID)
		}
	}
	return nil
}

// Denied is what a guard found.
type Denied struct{ Finding checks.Finding }

// Error tells what the guard found.
func (d *Denied) Error() string {
	f := d.Finding
	what := fmt.Sprintf("%s: %s %s", f.Check, f.Target, f.Summary)
	if f.Status == checks.Unknown || f.Status == checks.OutOfScope {
		what = fmt.Sprintf("%s: of %s it is not known: %s", f.Check, f.Target, f.Summary)
	}
	return what
}
