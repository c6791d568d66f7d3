package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// looks remembers the first look of each request that is made twice: when it
// was answered, and by which way.
type looks struct {
	mu    sync.Mutex
	first map[string]look
	began time.Time // when the first of all was asked; zero if none was
}

type look struct {
	at  time.Time // when the answer came; when it was asked if none did
	way string    // empty if no way answered
}

func newLooks() *looks { return &looks{first: map[string]look{}} }

// key is that of both looks of a request.
func (*looks) key(r collectors.Request) string {
	r.Sample = collectors.Once
	return r.Key()
}

// answered remembers when a first look was answered, and by which way.
func (l *looks) answered(r collectors.Request, at time.Time, way string) {
	if r.Sample != collectors.First {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first[l.key(r)] = look{at, way}
}

// failed remembers when a first look was asked that was not answered. The
// second one then is the only one: how long the first was waited for is not
// waited once more.
func (l *looks) failed(r collectors.Request, asked time.Time) {
	if r.Sample != collectors.First {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first[l.key(r)] = look{at: asked}
}

// begin remembers when a run began to look.
func (l *looks) begin(r collectors.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Sample == collectors.First && l.began.IsZero() {
		l.began = time.Now()
	}
}

// due is when to look for the second time: when the window has passed. Of what
// was first seen when half of the window had passed already, the window is
// shorter, but not by more than two thirds: an operator waits for the verdict,
// and rates are known of a shorter time too.
func (l *looks) due(first time.Time, window time.Duration) time.Time {
	due := first.Add(window)
	if latest := l.began.Add(window + window/2); due.After(latest) {
		due = latest
	}
	if least := first.Add(window / 3); due.Before(least) {
		due = least
	}
	return due
}

// turnBy is until when a request may wait for its turn: what is asked once, until
// the latest second look is due, and a first look for less long, as there is a
// window to come.
func (l *looks) turnBy(ctx context.Context, r collectors.Request) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Sample == collectors.Last || r.After == 0 || l.began.IsZero() {
		return context.WithCancel(ctx)
	}
	d := r.After + r.After/2
	if r.Sample == collectors.First {
		d -= r.After / 4
	}
	return context.WithDeadline(ctx, l.began.Add(d))
}

// wait returns when a Last request is due. Without a First there is nothing to
// wait for.
func (l *looks) wait(ctx context.Context, r collectors.Request) error {
	if r.Sample != collectors.Last {
		return nil
	}
	l.mu.Lock()
	first, ok := l.first[l.key(r)]
	due := l.due(first.at, r.After)
	l.mu.Unlock()
	if !ok {
		return nil
	}
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ways returns the ways to what the request wants, in the order in which to
// try them: the second look goes where the first was answered.
func (l *looks) ways(r collectors.Request) []string {
	ways := append([]string{r.URL}, r.Or...)
	if r.Sample != collectors.Last {
		return ways
	}
	l.mu.Lock()
	first := l.first[l.key(r)].way
	l.mu.Unlock()
	if i := slices.Index(ways, first); i > 0 {
		ways = slices.Insert(slices.Delete(ways, i, i+1), 0, first)
	}
	return ways
}
