package collectors

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Fact describes one kind of knowledge: whom to ask, what to ask, and how to
// read the answer. All of it is pure; only Collect does I/O.
//
// A fact has exactly one of Read, Fold and Derive.
type Fact[T any] struct {
	ID    string // "etcd.status", stable
	Doc   string // what it is, as a sentence
	Needs []Any  // the facts that Targets, Ask and Derive read

	// Targets says whom to ask. A gap as its error says why that is not known.
	Targets func(*Snapshot) ([]Target, error)

	// Ask lists the requests to one target. It is nil with Derive.
	Ask func(*Snapshot, Target) []Request

	// Read makes the value of the replies, in Ask's order.
	Read func([]Answered) (T, error)

	// Partial lets Read see gaps. Without it, any gap is the answer.
	Partial bool

	// Fold starts the reading of lists: Add is given each object of each page,
	// must not keep it, and may keep what it copies out of it; Done makes the
	// value.
	Fold func(*Snapshot, Target) Folder[T]

	// Derive makes the value of other facts, without asking anyone.
	Derive func(*Snapshot, Target) (T, error)
}

// A Folder reads lists object by object. The index is that of the request.
// When a run's window is extended, the objects of a request of the Last sample
// are given again: the later ones replace the earlier.
type Folder[T any] struct {
	Add  func(request int, o objects.Object)
	Done func([]Answered) (T, error)
}

// Answered is a reply, read and cut to what was wanted, or a gap. Of a list it
// has no body: its objects went through the Folder.
type Answered struct {
	Reply
	Body    []byte       // of a Get or a Call
	Metrics *metrics.Set // of a Scrape; may hold more than was wanted
	Gap     *Gap
}

// An Answer is what one target said: a value, or the gap where it should be.
type Answer[T any] struct {
	Target Target
	Value  T
	Gap    *Gap
}

// Any is a Fact of some type.
type Any interface {
	Name() string
	Describe() string
	Requires() []Any
	Requests(*Snapshot) []Request
	Asks() bool
	prepare(*Snapshot) job
}

// Name returns the fact's ID.
func (f *Fact[T]) Name() string { return f.ID }

// Describe returns the fact's Doc.
func (f *Fact[T]) Describe() string { return f.Doc }

// Asks reports whether f asks anybody, rather than being derived.
func (f *Fact[T]) Asks() bool { return f.Ask != nil }

// Requires returns the facts that f is made from.
func (f *Fact[T]) Requires() []Any { return f.Needs }

// Requests returns what f asks, by what the snapshot says of the facts that it
// needs. It is empty for a fact that is derived.
func (f *Fact[T]) Requests(s *Snapshot) []Request {
	var out []Request
	for _, t := range f.prepare(s).tasks() {
		out = append(out, t.requests...)
	}
	return out
}

// Answers returns what each target said, in target order, or a gap if it is
// not even known whom to ask.
func (f *Fact[T]) Answers(s *Snapshot) ([]Answer[T], *Gap) {
	switch a := s.answers[f.ID].(type) {
	case []Answer[T]:
		return slices.Clone(a), nil
	case *Gap:
		return nil, a
	}
	if s.partial {
		return nil, Gapf(Bug, "%s is read by a fact that does not need it", f.ID)
	}
	return nil, Gapf(NotAsked, "%s was not collected", f.ID)
}

// Of returns what one target said.
func (f *Fact[T]) Of(s *Snapshot, t Target) (T, *Gap) {
	var none T
	as, gap := f.Answers(s)
	if gap != nil {
		return none, gap
	}
	for _, a := range as {
		if a.Target.Is(t) {
			return a.Value, a.Gap
		}
	}
	return none, Gapf(NotAsked, "%s was not asked of %s", f.ID, t)
}

// One returns the answer of a fact that has a single target.
func (f *Fact[T]) One(s *Snapshot) (T, *Gap) {
	var none T
	as, gap := f.Answers(s)
	switch {
	case gap != nil:
		return none, gap
	case len(as) != 1:
		return none, Gapf(NotAsked, "%s has %d targets, not one", f.ID, len(as))
	}
	return as[0].Value, as[0].Gap
}

// A job is one fact being collected: its targets, their requests and, once
// they are answered, its answers.
type job interface {
	tasks() []*task
	finish(*Snapshot) any // []Answer[T] or *Gap
}

// A task is the part of a job that concerns one target.
type task struct {
	requests []Request
	answers  []Answered
	add      func(i int, o objects.Object) // nil without a fold
}

type factJob[T any] struct {
	fact    *Fact[T]
	gap     *Gap
	targets []Target
	parts   []*task
	folds   []Folder[T]
}

func (f *Fact[T]) prepare(s *Snapshot) (out job) {
	j := &factJob[T]{fact: f}
	defer func() {
		if r := recover(); r != nil {
			j.gap, j.parts = Gapf(Bug, "fact %s: %v", f.ID, r), nil
			out = j
		}
	}()
	targets, err := f.Targets(s)
	if err != nil {
		j.gap = AsGap(err, Bug)
		return j
	}
	slices.SortFunc(targets, CompareTargets)
	j.targets = slices.CompactFunc(targets, Target.Is)
	j.folds = make([]Folder[T], len(j.targets))
	for i, t := range j.targets {
		p := &task{}
		if f.Ask != nil {
			p.requests = f.Ask(s, t)
		}
		p.answers = make([]Answered, len(p.requests))
		if f.Fold != nil {
			var mu sync.Mutex // the lists of one target are read side by side
			j.folds[i] = f.Fold(s, t)
			p.add = func(n int, o objects.Object) {
				mu.Lock()
				defer mu.Unlock()
				j.folds[i].Add(n, o)
			}
		}
		j.parts = append(j.parts, p)
	}
	return j
}

func (j *factJob[T]) tasks() []*task { return j.parts }

func (j *factJob[T]) finish(s *Snapshot) any {
	if j.gap != nil {
		return j.gap
	}
	out := make([]Answer[T], len(j.targets))
	for i, t := range j.targets {
		v, err := j.read(s, i)
		out[i] = Answer[T]{Target: t, Value: v, Gap: AsGap(err, Malformed)}
	}
	return out
}

func (j *factJob[T]) read(s *Snapshot, i int) (v T, err error) {
	f, p := j.fact, j.parts[i]
	defer func() {
		if r := recover(); r != nil {
			var none T
			v, err = none, Gapf(Bug, "fact %s, %s: %v", f.ID, j.targets[i], r)
		}
	}()
	if f.Derive != nil {
		return f.Derive(s, j.targets[i])
	}
	if !f.Partial {
		for _, a := range p.answers {
			if a.Gap != nil {
				return v, a.Gap
			}
		}
	}
	if f.Fold != nil {
		return j.folds[i].Done(p.answers)
	}
	v, err = f.Read(p.answers)
	if g := AsGap(err, Malformed); g != nil && (g.Reason == Absent || g.Reason == OutOfScope) {
		if lost := p.unheld(); lost != nil {
			return v, Gapf(NotAsked, "the recording does not hold %s", strings.Join(lost, " or ")).
				With("make a recording with this version of ktriage")
		}
	}
	return v, err
}

// unheld lists the families that the task wants and a recording was cut of.
func (p *task) unheld() []string {
	var out []string
	for i, a := range p.answers {
		if a.Families == nil {
			continue
		}
		for _, w := range p.requests[i].Want {
			if !slices.Contains(a.Families, w.Name) && !slices.Contains(out, w.Name) {
				out = append(out, w.Name)
			}
		}
	}
	return out
}

// Single is the Targets of a fact about the cluster as a whole, or about one
// component as a whole.
func Single(t Target) func(*Snapshot) ([]Target, error) {
	return func(*Snapshot) ([]Target, error) { return []Target{t}, nil }
}

// Scrapes returns the two requests of a window on a metrics endpoint, with
// the start time of the process among the wanted families.
func Scrapes(url string, or []string, want ...metrics.Select) []Request {
	want = append(slices.Clone(want), metrics.Select{Name: metrics.StartTime})
	return []Request{
		{Verb: Scrape, URL: url, Or: or, Sample: First, Want: want},
		{Verb: Scrape, URL: url, Or: or, Sample: Last, Want: want},
	}
}

// What a Window that has one look says of the other, before its gap.
const (
	firstFailed  = "the first look failed: "
	secondFailed = "the second look failed: "
)

// FailedLook returns the gap because of which there was nothing to compare, if
// g is of a fact or a verdict that says so in its detail.
func (g *Gap) FailedLook() *Gap {
	for _, before := range [...]string{firstFailed, secondFailed} {
		if _, after, ok := strings.Cut(g.Detail, before); ok {
			reason, detail, _ := strings.Cut(after, ": ")
			return &Gap{Reason: Reason(reason), Detail: detail}
		}
	}
	return nil
}

// ReadWindow makes the Window of the replies to Scrapes, in a fact that is
// Partial. One look of the two is enough for a Window without comparison.
func ReadWindow(rs []Answered) (metrics.Window, error) {
	first, last := rs[0], rs[1]
	switch {
	case last.Gap == nil && first.Gap == nil:
		return metrics.NewWindow(first.Metrics, last.Metrics, first.At, last.At), nil
	case last.Gap == nil:
		w := metrics.NewWindow(nil, last.Metrics, time.Time{}, last.At)
		if first.Gap.Reason != NotAsked {
			w.Broken = firstFailed + first.Gap.Error()
		}
		return w, nil
	case first.Gap == nil:
		w := metrics.NewWindow(nil, first.Metrics, time.Time{}, first.At)
		w.Broken = secondFailed + last.Gap.Error()
		return w, nil
	}
	return metrics.Window{}, last.Gap
}

// WindowFact makes a fact of what a metrics endpoint served over the window.
// Targets yields the endpoints, by their Addr; read may return a Gap.
func WindowFact[T any](id, doc string, needs []Any, targets func(*Snapshot) ([]Target, error), ask func(*Snapshot, Target) []Request, read func(metrics.Window) (T, error)) *Fact[T] {
	return &Fact[T]{
		ID: id, Doc: doc, Needs: needs, Targets: targets, Ask: ask, Partial: true,
		Read: func(rs []Answered) (v T, err error) {
			w, err := ReadWindow(rs)
			if err != nil {
				return v, err
			}
			return read(w)
		},
	}
}

// AbsentMetric is the gap of an endpoint that answers but does not serve a family.
func AbsentMetric(names ...string) *Gap {
	var b bytes.Buffer
	for i, n := range names {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString(n)
	}
	return &Gap{Reason: Absent, Detail: fmt.Sprintf("the endpoint answers, but does not serve %s", b.String())}
}
