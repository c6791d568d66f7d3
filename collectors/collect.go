package collectors

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/objects"
)

// maxBody bounds a reply that is kept whole. The largest that ktriage asks for
// is a health endpoint's, some kilobytes.
const maxBody = 16 << 20

// pageLimit is how many objects a page is asked to hold: what kubectl and
// client-go's pager use.
const pageLimit = 500

// maxPages ends a list whose server hands out tokens for ever.
const maxPages = 100_000

// Options of Collect.
type Options struct {
	Recorder Recorder            // keeps what was asked and got; may be nil
	Progress func(done, all int) // told as requests are answered; may be nil
}

// Collect gathers the facts, and all that they need, into a snapshot. What
// could not be learned is in it as gaps: Collect does not fail, and it returns
// early only as fast as the source does when ctx ends.
//
// The requests of facts that stand on one level are put together, each key is
// fetched once, and its reply serves all. Requests of the Last sample are put
// off to the end, so that everything else is collected inside the window.
func Collect(ctx context.Context, src Source, at time.Time, window time.Duration, o Options, facts ...Any) *Collection {
	c := &Collection{
		src: src, o: o, kept: map[string]*exchange{},
		Snapshot: &Snapshot{At: at, Window: window, answers: map[string]any{}},
	}
	s := c.Snapshot
	for _, level := range order(facts) {
		var jobs []pending
		for _, f := range level {
			jobs = append(jobs, pending{f, f.prepare(s)})
		}
		c.fetch(ctx, window, jobs, func(r Request) bool { return r.Sample != Last })
		for _, p := range jobs {
			if p.waits() {
				c.late = append(c.late, p)
				// A fact that is made from this one finds a gap, not a value
				// that is about to change.
				s.answers[p.fact.Name()] = Gapf(Bug, "%s is known only after the window; no fact can be asked by it", p.fact.Name())
				continue
			}
			if p.afterWindow(c.late) {
				c.late = append(c.late, p)
				continue
			}
			s.answers[p.fact.Name()] = p.job.finish(s)
		}
	}
	c.close(ctx, s)
	return c
}

// A Collection is a Snapshot with what it takes to extend its window.
type Collection struct {
	Snapshot *Snapshot

	src  Source
	o    Options
	late []pending            // facts over the window, and facts derived from them
	kept map[string]*exchange // replies that later levels may share

	mu        sync.Mutex
	done, all int
}

// Extend looks once more when the given time has passed since the first look,
// and returns the snapshot over that longer window. All that does not depend
// on the window stays as it was.
func (c *Collection) Extend(ctx context.Context, window time.Duration) *Snapshot {
	s := *c.Snapshot
	s.Window, s.answers = window, maps.Clone(s.answers)
	for k, e := range c.kept {
		if e.req.Sample == Last {
			delete(c.kept, k)
		}
	}
	c.close(ctx, &s)
	c.Snapshot = &s
	return &s
}

// close takes the last look and finishes the facts that waited for it.
func (c *Collection) close(ctx context.Context, s *Snapshot) {
	c.fetch(ctx, s.Window, c.late, func(r Request) bool { return r.Sample == Last })
	for _, p := range c.late {
		s.answers[p.fact.Name()] = p.job.finish(s)
	}
}

type pending struct {
	fact Any
	job  job
}

func (p pending) waits() bool {
	return slices.ContainsFunc(p.requests(), func(r Request) bool { return r.Sample == Last })
}

// afterWindow reports whether the fact is derived from one that waits.
func (p pending) afterWindow(late []pending) bool {
	for _, n := range p.fact.Requires() {
		for _, l := range late {
			if l.fact.Name() == n.Name() {
				return len(p.requests()) == 0
			}
		}
	}
	return false
}

func (p pending) requests() []Request {
	var out []Request
	for _, t := range p.job.tasks() {
		out = append(out, t.requests...)
	}
	return out
}

// An exchange is one request, the tasks that share it, and its answer.
type exchange struct {
	req    Request
	users  []*user
	answer Answered
}

// A user is one task's place for an answer.
type user struct {
	task  *task
	index int
	gap   *Gap // why this task could not use the answer
}

// add gives an object of a list to the task. A panic is the task's own gap:
// others that share the list go on.
func (u *user) add(o objects.Object) {
	if u.gap != nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			u.gap = Gapf(Bug, "%s/%s: %v", o.GetNamespace(), o.GetName(), r)
		}
	}()
	u.task.add(u.index, o)
}

// fetch answers those requests of the jobs that are due.
func (c *Collection) fetch(ctx context.Context, window time.Duration, jobs []pending, due func(Request) bool) {
	var todo []*exchange
	byKey := map[string]*exchange{}
	for _, p := range jobs {
		for _, t := range p.job.tasks() {
			for i, r := range t.requests {
				if !due(r) {
					continue
				}
				key := r.Key()
				if e := c.kept[key]; e != nil && r.Verb != List && metrics.Covers(e.req.Want, r.Want) {
					t.answers[i] = e.answer
					continue
				}
				e := byKey[key]
				if e == nil {
					e = &exchange{req: r}
					if before := c.kept[key]; before != nil {
						// A recording keeps the last reply: it must serve the earlier users too.
						e.req.Want = metrics.Merge(before.req.Want, r.Want)
					}
					byKey[key] = e
					todo = append(todo, e)
				} else {
					e.req.Want = metrics.Merge(e.req.Want, r.Want)
				}
				e.users = append(e.users, &user{task: t, index: i})
			}
		}
	}
	c.progress(0, len(todo))
	var wg sync.WaitGroup
	for _, e := range todo {
		wg.Go(func() {
			e.req.After = window
			c.answer(ctx, e)
			for _, u := range e.users {
				a := e.answer
				if u.gap != nil {
					a = Answered{Gap: u.gap}
				}
				u.task.answers[u.index] = a
			}
			c.progress(1, 0)
		})
	}
	wg.Wait()
	for k, e := range byKey {
		c.kept[k] = e
	}
}

func (c *Collection) progress(done, more int) {
	if c.o.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += done
	c.all += more
	c.o.Progress(c.done, c.all)
}

// answer carries out one exchange. A panic of the source or of a reader is a gap.
func (c *Collection) answer(ctx context.Context, e *exchange) {
	defer func() {
		if r := recover(); r != nil {
			e.answer = Answered{Gap: Gapf(Bug, "%s: %v", e.req.Key(), r)}
		}
	}()
	if e.req.Verb == List {
		e.answer = c.list(ctx, e)
		return
	}
	reply, err := c.src.Fetch(ctx, e.req)
	if err != nil {
		e.answer = Answered{Gap: AsGap(err, Unreachable)}
		c.record(e.req, 0, nil, nil, e.answer.Gap)
		return
	}
	defer reply.Body.Close()
	a := Answered{Reply: *reply}
	a.Reply.Body = nil
	var kept []byte
	switch e.req.Verb {
	case Scrape:
		set, err := metrics.Parse(reply.Body, e.req.Want)
		if err != nil {
			a.Gap = c.broken(ctx, err, reply, "metrics")
			break
		}
		a.Metrics = set
		if c.o.Recorder != nil {
			var b bytes.Buffer
			set.WriteTo(&b)
			kept = b.Bytes()
		}
	default:
		b, err := io.ReadAll(io.LimitReader(reply.Body, maxBody+1))
		switch {
		case err != nil:
			a.Gap = c.broken(ctx, err, reply, "reply")
		case len(b) > maxBody:
			a.Gap = Gapf(Malformed, "%s: the reply is over %d bytes", reply.From, maxBody)
		default:
			a.Body, kept = b, b
		}
	}
	if a.Gap != nil {
		c.record(e.req, 0, nil, nil, a.Gap)
	} else {
		c.record(e.req, 0, &a.Reply, kept, nil)
	}
	e.answer = a
}

// broken says why a body could not be read. A body that ends because the run
// does is not malformed.
func (c *Collection) broken(ctx context.Context, err error, reply *Reply, what string) *Gap {
	g := AsGap(err, Malformed)
	if ctx.Err() != nil {
		g = AsGap(ctx.Err(), Canceled)
	}
	return &Gap{Reason: g.Reason, Detail: fmt.Sprintf("read %s of %s: %s", what, reply.From, g.Detail), Remedy: g.Remedy}
}

// list reads all pages of a list and gives each object to every fold.
func (c *Collection) list(ctx context.Context, e *exchange) Answered {
	var n int
	fail := func(g *Gap) Answered {
		c.record(e.req, n, nil, nil, g)
		return Answered{Gap: g}
	}
	_, path, _ := bytes.Cut([]byte(e.req.URL), []byte(":"))
	kind, ok := objects.ForPath(string(path))
	if !ok {
		return fail(Gapf(Bug, "%s: no kind of objects is known for this path", e.req.URL))
	}
	var first Answered
	req := e.req
	for ; ; n++ {
		if n == maxPages {
			return fail(Gapf(Malformed, "%s: the list does not end after %d pages", e.req.URL, maxPages))
		}
		reply, err := c.src.Fetch(ctx, req)
		if err != nil {
			g := AsGap(err, Unreachable)
			if n > 0 {
				g = &Gap{Reason: g.Reason, Detail: fmt.Sprintf("page %d: %s", n+1, g.Detail), Remedy: g.Remedy}
			}
			return fail(g)
		}
		page, err := c.page(e, n, kind, reply)
		if err != nil {
			return fail(c.broken(ctx, err, reply, "list"))
		}
		if n == 0 {
			first = Answered{Reply: *reply}
			first.Reply.Body = nil
		}
		if page.Continue == "" {
			return first
		}
		req.Page = page.Continue
	}
}

func (c *Collection) page(e *exchange, n int, kind objects.Kind, reply *Reply) (objects.Page, error) {
	defer reply.Body.Close()
	var enc *objects.Encoder
	if c.o.Recorder != nil {
		enc = objects.NewEncoder(kind)
	}
	page, err := objects.Decode(kind, reply.Media, reply.Body, func(o objects.Object) error {
		if enc != nil {
			if err := enc.Add(o); err != nil {
				return err
			}
		}
		for _, u := range e.users {
			u.add(o)
		}
		return nil
	})
	if err != nil {
		return page, err
	}
	if enc != nil {
		r := *reply
		r.Body, r.Media = nil, objects.JSON
		next := ""
		if page.Continue != "" {
			next = strconv.Itoa(n + 1) // the server's own token means nothing to a recording
		}
		c.record(e.req, n, &r, enc.Bytes(next), nil)
	}
	return page, nil
}

func (c *Collection) record(req Request, page int, reply *Reply, body []byte, gap *Gap) {
	if c.o.Recorder == nil {
		return
	}
	if reply != nil {
		r := *reply
		r.Body = nil
		reply = &r
	}
	c.o.Recorder.Record(req, page, reply, body, gap)
}

// PageLimit is how many objects a Source should ask for in one page.
func PageLimit() int { return pageLimit }
