package live

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"

	"github.com/ktriage/ktriage/collectors"
)

// A limiter bounds requests in flight and per second, and counts them.
type limiter struct {
	slots chan struct{}
	rate  *rate.Limiter
	bytes atomic.Int64

	mu       sync.Mutex
	requests int
	inFlight int
	peak     int
}

func newLimiter(inFlight int, qps float64, burst int) *limiter {
	return &limiter{slots: make(chan struct{}, inFlight), rate: rate.NewLimiter(rate.Limit(qps), burst)}
}

// acquire waits until a request may be sent. The request counts as in flight
// until release is called, which may be done more than once.
func (l *limiter) acquire(ctx context.Context) (release func(), err error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := l.rate.Wait(ctx); err != nil {
		<-l.slots
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
		<-l.slots
	}), nil
}

func (l *limiter) cost() collectors.Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	return collectors.Cost{Requests: l.requests, Bytes: l.bytes.Load(), PeakInFlight: l.peak}
}
