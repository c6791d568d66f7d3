package collectors

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/objects"
)

// maxBody bounds a reply that is kept whole. The largest that ktriage asks for
// is a health endpoint's, some kilobytes.
const maxBody = 16 << 20

// PageLimit is how many objects a page is asked to hold: what kubectl and
// client-go's pager use.
const PageLimit = 500

// maxPages ends a list whose server hands out tokens for ever.
const maxPages = 100_000

// An exchange is one request, the tasks that share it, and its answer.
type exchange struct {
	req    Request
	users  []*user
	after  *exchange // is carried out first; may be nil
	begun  bool
	done   chan struct{} // closed when the answer is there
	answer Answered
}

// answered reports whether the answer is there.
func (e *exchange) answered() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// A user is one task's place for an answer.
type user struct {
	fact  *pending
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

// take gives the task its answer.
func (u *user) take(a Answered) {
	if u.gap != nil {
		a = Answered{Gap: u.gap}
	}
	u.task.answers[u.index] = a
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
