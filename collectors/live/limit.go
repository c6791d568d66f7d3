package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/ktriage/ktriage/collectors"
)

// A limiter bounds requests in flight and per second, and counts them.
type limiter struct {
	rate  *rate.Limiter
	bytes atomic.Int64

	mu       sync.Mutex
	slots    int            // how many may be in flight
	taken    int            // by requests, and by those that wait for the rate only
	waiting  []*waiter      // in the order in which they came
	handing  bool           // slots are about to be handed out
	at       map[string]int // of those that are taken, by server
	requests int
	inFlight int
	peak     int
}

// A waiter is a request that waits for a slot.
type waiter struct {
	server  string
	urgency int
	turn    chan struct{} // closed when it has one
}

func newLimiter(inFlight int, qps float64, burst int) *limiter {
	return &limiter{slots: inFlight, at: map[string]int{}, rate: rate.NewLimiter(rate.Limit(qps), burst)}
}

// acquire waits until a request to a server may be sent. Of those that wait the
// most urgent goes first, and of these one to the server with the least to do:
// a server that is slow must not keep others from being asked. The request
// counts as in flight until release is called, which may be done more than once.
func (l *limiter) acquire(ctx context.Context, server string, urgency int) (release func(), err error) {
	if err := l.take(ctx, server, urgency); err != nil {
		return nil, err
	}
	if err := l.rate.Wait(ctx); err != nil {
		l.give(server)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.inFlight++
	l.peak = max(l.peak, l.inFlight)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.inFlight--
		l.mu.Unlock()
		l.give(server)
	}), nil
}

// take waits for a slot.
func (l *limiter) take(ctx context.Context, server string, urgency int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w := &waiter{server, urgency, make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	if !l.handing {
		l.handing = true
		time.AfterFunc(muster, l.hand)
	}
	l.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(l.waiting, w)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // its turn came at the same moment
		l.give(server)
	}
	return ctx.Err()
}

// muster is how long is waited for others that come at the same time, of which
// one may be more urgent.
const muster = 5 * time.Millisecond

// hand gives slots to those that wait.
func (l *limiter) hand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handing = false
	for len(l.waiting) > 0 {
		var next *waiter
		for _, w := range l.waiting {
			if l.free(w) && (next == nil || cmp.Or(w.urgency-next.urgency, l.at[next.server]-l.at[w.server]) > 0) {
				next = w
			}
		}
		if next == nil {
			return
		}
		l.taken++
		l.at[next.server]++
		l.waiting = slices.DeleteFunc(l.waiting, func(w *waiter) bool { return w == next })
		close(next.turn)
	}
}

// free reports whether there is a slot for a request. No server gets all of
// them, so that others are asked while it hangs. What is not crucial leaves one
// more, and what nothing waits for another, for what follows from the first
// answers.
func (l *limiter) free(w *waiter) bool {
	most := l.slots - l.slots/4
	if w.urgency < crucial {
		most--
	}
	if w.urgency == 0 {
		most--
	}
	return l.taken < l.slots && l.at[w.server] < max(1, most)
}

// give returns a slot.
func (l *limiter) give(server string) {
	l.mu.Lock()
	l.taken--
	l.at[server]--
	l.mu.Unlock()
	l.hand()
}

func (l *limiter) cost() collectors.Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	return collectors.Cost{Requests: l.requests, Bytes: l.bytes.Load(), PeakInFlight: l.peak}
}

// turn waits for the turn of a request, but not for longer than the answer could
// be of use.
func (s *Source) turn(ctx context.Context, server string, r collectors.Request) (release func(), err error) {
	ctx, cancel := s.looks.turnBy(ctx, r)
	defer cancel()
	return s.limit.acquire(ctx, server, r.Urgency)
}

// noTurn says why a request was not sent.
func noTurn(run context.Context) failure {
	if run.Err() != nil {
		return stopped(run, stageStart)
	}
	return failure{reason: collectors.Canceled, words: collectors.NoTurn, how: ourselves}
}
