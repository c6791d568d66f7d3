package collectors

import (
	"context"
	"maps"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// Options of Collect.
type Options struct {
	Recorder Recorder            // keeps what was asked and got; may be nil
	Progress func(done, all int) // told as requests are answered; may be nil
}

// Collect gathers the facts, and all that they need, into a snapshot. What
// could not be learned is in it as gaps: Collect does not fail, and it returns
// early only as fast as the source does when ctx ends.
//
// A fact is asked as soon as all that it needs is known, so that what is slow
// delays only what follows from it. The requests of facts that become ready
// together are put together, each key is fetched once, and its reply serves
// all. Requests of the Last sample are put off to the end, so that everything
// else is collected inside the window.
func Collect(ctx context.Context, src Source, at time.Time, window time.Duration, o Options, facts ...Any) *Collection {
	c := &Collection{
		src: src, o: o, kept: map[string]*exchange{}, done: make(chan *exchange),
		Snapshot: &Snapshot{At: at, Window: window, answers: map[string]any{}},
	}
	c.gather(ctx, c.Snapshot, facts)
	c.close(ctx, c.Snapshot)
	return c
}

// A Collection is a Snapshot with what it takes to extend its window.
type Collection struct {
	Snapshot *Snapshot

	src   Source
	o     Options
	seen  bool                 // a first look was answered
	blind []*pending           // facts whose last look waits for that
	late  []*pending           // facts over the window, and facts derived from them; each after what it needs
	kept  map[string]*exchange // by key, for others to share
	done  chan *exchange       // those that are answered

	answered, asked int
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

// gather answers all but the last looks.
func (c *Collection) gather(ctx context.Context, s *Snapshot, facts []Any) {
	ready := plan(facts)
	var todo []*exchange
	for open := 0; ; {
		var settled []*pending
		for len(ready) > 0 {
			p := ready[0]
			ready = ready[1:]
			p.job = p.fact.prepare(s.only(p.needs))
			todo = c.want(p, todo, isFirst)
			if p.open == 0 {
				settled = append(settled, p)
				ready = append(ready, c.settle(s, p)...)
			}
		}
		for _, p := range settled {
			todo = c.lookAgain(p, todo)
		}
		open += len(todo)
		c.begin(ctx, s.Window, todo)
		todo = nil
		if open == 0 {
			return
		}
		e := <-c.done
		open--
		for _, p := range c.deliver(e) {
			if p.again { // this was its last look
				continue
			}
			ready = append(ready, c.settle(s, p)...)
			todo = c.lookAgain(p, todo)
		}
	}
}

func isFirst(r Request) bool { return r.Sample != Last }
func isLast(r Request) bool  { return r.Sample == Last }

// lookAgain adds the last looks of a fact whose first are done. They wait for
// the window themselves, and nothing else has to. As long as no first look of
// the run was answered, there may be nothing to wait for.
func (c *Collection) lookAgain(p *pending, todo []*exchange) []*exchange {
	twice, seen := p.looks()
	if !twice {
		return todo
	}
	c.blind = append(c.blind, p)
	if c.seen = c.seen || seen; !c.seen {
		return todo
	}
	for _, p := range c.blind {
		p.again = true
		todo = c.want(p, todo, isLast)
	}
	c.blind = nil
	return todo
}

// close takes what last looks are missing, and finishes the facts that waited
// for them.
func (c *Collection) close(ctx context.Context, s *Snapshot) {
	window := s.Window
	if !c.seen {
		window = 0
	}
	var todo []*exchange
	for _, p := range c.late {
		if !p.again {
			todo = c.want(p, todo, isLast)
		}
		p.again = false // for the next time
	}
	c.begin(ctx, window, todo)
	for range todo {
		c.deliver(<-c.done)
	}
	for _, p := range c.late {
		s.answers[p.fact.Name()] = p.job.finish(s.only(p.needs))
	}
}

// settle makes the answers of a fact, if they do not depend on the window, and
// returns the facts that waited for it alone.
func (c *Collection) settle(s *Snapshot, p *pending) []*pending {
	if p.isLate() {
		c.late = append(c.late, p)
		// A fact that is asked by what this one says finds a gap, not a value
		// that is about to change.
		s.answers[p.fact.Name()] = Gapf(Bug, "%s is known only after the window; no fact can be asked by it", p.fact.Name())
	} else {
		s.answers[p.fact.Name()] = p.job.finish(s.only(p.needs))
	}
	return p.known()
}

// want adds those requests of a fact that are due to the exchanges, and returns
// todo with the new ones.
func (c *Collection) want(p *pending, todo []*exchange, due func(Request) bool) []*exchange {
	for _, t := range p.job.tasks() {
		for i, r := range t.requests {
			if !due(r) {
				continue
			}
			e, isNew := c.exchange(r)
			if isNew {
				todo = append(todo, e)
			}
			u := &user{fact: p, task: t, index: i}
			if e.answered() {
				u.take(e.answer)
				continue
			}
			e.users = append(e.users, u)
			if !e.begun {
				e.req.Urgency = max(e.req.Urgency, p.urgency)
				if r.Sample != Once {
					e.req.Urgency = max(e.req.Urgency, 1)
				}
			}
			p.open++
		}
	}
	return todo
}

// exchange returns that of a request, and whether it is new. One that has
// begun can be shared if it brings all that is wanted. The objects of a list
// go by once.
func (c *Collection) exchange(r Request) (e *exchange, isNew bool) {
	key := r.Key()
	before := c.kept[key]
	switch {
	case before == nil:
	case !before.begun:
		before.req.Want = metrics.Merge(before.req.Want, r.Want)
		return before, false
	case r.Verb != List && metrics.Covers(before.req.Want, r.Want):
		return before, false
	}
	e = &exchange{req: r, after: before, done: make(chan struct{})}
	if before != nil {
		// A recording keeps the last reply: it must serve the earlier users too.
		e.req.Want = metrics.Merge(before.req.Want, r.Want)
	}
	c.kept[key] = e
	return e, true
}

// begin carries out exchanges. Each is sent to c.done when it is answered.
func (c *Collection) begin(ctx context.Context, window time.Duration, todo []*exchange) {
	c.progress(0, len(todo))
	for _, e := range todo {
		e.begun, e.req.After = true, window
		go func() {
			if e.after != nil {
				<-e.after.done
				e.after = nil
			}
			c.answer(ctx, e)
			close(e.done)
			c.done <- e
		}()
	}
}

// deliver gives an answer to those who share it, and returns the facts whose
// requests are all answered.
func (c *Collection) deliver(e *exchange) []*pending {
	c.progress(1, 0)
	var out []*pending
	for _, u := range e.users {
		u.take(e.answer)
		if u.fact.open--; u.fact.open == 0 {
			out = append(out, u.fact)
		}
	}
	e.users = nil
	return out
}

func (c *Collection) progress(done, more int) {
	c.answered += done
	c.asked += more
	if c.o.Progress != nil {
		c.o.Progress(c.answered, c.asked)
	}
}
