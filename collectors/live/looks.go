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

// wait returns when the window of a Last request has passed since its First.
// Without a First there is nothing to wait for.
func (l *looks) wait(ctx context.Context, r collectors.Request) error {
	if r.Sample != collectors.Last {
		return nil
	}
	l.mu.Lock()
	first, ok := l.first[l.key(r)]
	l.mu.Unlock()
	if !ok {
		return nil
	}
	t := time.NewTimer(time.Until(first.at.Add(r.After)))
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
