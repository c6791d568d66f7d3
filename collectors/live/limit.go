package live

import (
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
	slots    int       // how many may be in flight
	reserved int       // of these, for what others wait for
	taken    int       // by requests, and by those that wait for the rate only
	waiting  []*waiter // in the order in which they came
	handing  bool      // slots are about to be handed out
	requests int
	inFlight int
	peak     int
}

// A waiter is a request that waits for a slot.
type waiter struct {
	urgency int
	turn    chan struct{} // closed when it has one
}

func newLimiter(inFlight int, qps float64, burst int) *limiter {
	return &limiter{slots: inFlight, reserved: inFlight / 2, rate: rate.NewLimiter(rate.Limit(qps), burst)}
}

// acquire waits until a request may be sent. Of those that wait the most urgent
// goes first. The request counts as in flight until release is called, which
// may be done more than once.
func (l *limiter) acquire(ctx context.Context, urgency int) (release func(), err error) {
	if err := l.take(ctx, urgency); err != nil {
		return nil, err
	}
	if err := l.rate.Wait(ctx); err != nil {
		l.give()
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
		l.give()
	}), nil
}

// take waits for a slot.
func (l *limiter) take(ctx context.Context, urgency int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w := &waiter{urgency, make(chan struct{})}
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
		l.give()
	}
	return ctx.Err()
}

// muster is how long is waited for others that come at the same time, of which
// one may be more urgent.
const muster = 5 * time.Millisecond

// hand gives slots to those that wait, the most urgent first.
func (l *limiter) hand() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handing = false
	for len(l.waiting) > 0 {
		next := slices.MaxFunc(l.waiting, func(a, b *waiter) int { return a.urgency - b.urgency })
		if !l.free(next.urgency) {
			return
		}
		l.taken++
		l.waiting = slices.DeleteFunc(l.waiting, func(w *waiter) bool { return w == next })
		close(next.turn)
	}
}

// free reports whether there is a slot for a request. One that nothing waits
// for leaves the reserved ones alone: where all that is asked hangs, what
// follows from the first answer must not queue behind it.
func (l *limiter) free(urgency int) bool {
	if urgency == 0 {
		return l.taken < l.slots-l.reserved
	}
	return l.taken < l.slots
}

// give returns a slot.
func (l *limiter) give() {
	l.mu.Lock()
	l.taken--
	l.mu.Unlock()
	l.hand()
}

func (l *limiter) cost() collectors.Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	return collectors.Cost{Requests: l.requests, Bytes: l.bytes.Load(), PeakInFlight: l.peak}
}
