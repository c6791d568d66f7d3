package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// An answer is an HTTP response whose body is still coming.
type answer struct {
	*http.Response
	at      time.Time
	elapsed time.Duration
}

// drop gives up an answer whose body is not wanted.
func (a *answer) drop() { a.Body.Close() }

// reply makes a Reply of an answer.
func (a *answer) reply(from string) *collectors.Reply {
	r := &collectors.Reply{At: a.at, Elapsed: a.elapsed, Status: a.StatusCode, From: from, Media: a.Header.Get("Content-Type"), Body: a.Body}
	if d, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		r.Date = d
	}
	if a.TLS != nil && len(a.TLS.PeerCertificates) > 0 {
		r.Cert = certOf(a.TLS.PeerCertificates[0])
	}
	return r
}

// exchange sends one request and returns its answer, whatever it is, as soon as
// it begins. No redirect is followed: credentials go where they were meant to.
//
// The address is whose failures are remembered; way is what gaps call the
// request. Closing the answer's body ends the exchange.
func (s *Source) exchange(ctx context.Context, way, addr string, rt http.RoundTripper, req *http.Request, a attempt) (*answer, *collectors.Gap) {
	if f, dead := s.breaker.isDead(addr, serviceOf(a)); dead {
		return nil, f.gap(way)
	}
	release, err := s.turn(ctx, addr, a.Request)
	if err != nil {
		return nil, noTurn(ctx).gap(way)
	}
	if f, dead := s.breaker.refuses(addr, serviceOf(a)); dead { // meanwhile
		release()
		return nil, f.gap(way)
	}
	inner, cancel := context.WithCancelCause(ctx)
	t := &trace{began: time.Now()}
	timer := time.AfterFunc(a.within, func() { cancel(&lateError{a.within}) })
	defer s.giveUpWithOthers(addr, a, t, cancel)()
	connecting := time.AfterFunc(a.connect, func() {
		if at := t.stage(); at != stageStart && at != stageWaiting {
			cancel(&lateError{a.connect})
		}
	})
	defer connecting.Stop()

	resp, err := roundTrip(inner, rt, req.WithContext(httptrace.WithClientTrace(inner, t.hooks())))
	if err == nil && !timer.Stop() {
		resp.Body.Close()
		err = &lateError{a.within}
	}
	if err != nil {
		if cause := context.Cause(inner); cause != nil {
			err = cause
		}
		timer.Stop()
		cancel(errClosed)
		release()
		f := explain(ctx, err, t.stage(), a.within)
		s.breaker.fails(addr, serviceOf(a), f)
		return nil, f.gap(way)
	}
	s.breaker.answers(addr, serviceOf(a))
	timer = time.AfterFunc(s.config.BodyTimeout, func() { cancel(errTooLong) })
	resp.Body = &body{
		body: resp.Body, outer: ctx, inner: inner, way: way, timeout: s.config.BodyTimeout,
		done: sync.OnceFunc(func() {
			timer.Stop()
			cancel(errClosed)
			release()
		}),
	}
	at, elapsed := t.answered()
	return &answer{Response: resp, at: at, elapsed: elapsed}, nil
}

// serviceOf says what has to work for an attempt to be answered. Objects are
// read from the store.
func serviceOf(a attempt) service {
	if a.Verb == collectors.List {
		return itStore
	}
	return itself
}

// giveUpWithOthers gives up a request that is worth more time than others if all
// that is asked of the same service hangs: then so does this.
func (s *Source) giveUpWithOthers(addr string, a attempt, t *trace, cancel context.CancelCauseFunc) (stop func()) {
	short := s.config.RequestTimeout
	if a.within <= short {
		return func() {}
	}
	late := &lateError{short}
	counts := time.AfterFunc(short, func() {
		s.breaker.fails(addr, serviceOf(a), explain(context.Background(), late, t.stage(), short))
	})
	ends := time.AfterFunc(short+short/20, func() { // when all that began with it have been counted
		if s.breaker.hangs(addr, serviceOf(a)) {
			cancel(late)
		}
	})
	return func() {
		counts.Stop()
		ends.Stop()
	}
}

// grace is how long a round trip may take to notice that its context is done.
const grace = 250 * time.Millisecond

// roundTrip is rt.RoundTrip, except that it returns when the context is done
// even if rt does not: a kubeconfig's credential plugin heeds no context.
func roundTrip(ctx context.Context, rt http.RoundTripper, req *http.Request) (*http.Response, error) {
	type result struct {
		resp *http.Response
		err  error
	}
	c := make(chan result, 1)
	go func() {
		resp, err := rt.RoundTrip(req)
		c <- result{resp, err}
	}()
	select {
	case r := <-c:
		return r.resp, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-c:
		if r.err == nil {
			r.resp.Body.Close()
		}
	case <-time.After(grace):
		go func() {
			if r := <-c; r.err == nil {
				r.resp.Body.Close()
			}
		}()
	}
	return nil, context.Cause(ctx)
}

// A body is a response's body with an end: the run's, or its own timeout.
// Its errors are Gaps.
type body struct {
	body         io.ReadCloser
	outer, inner context.Context
	way          string
	timeout      time.Duration
	read         int64
	done         func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.read += int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	cause := context.Cause(b.inner)
	switch {
	case b.outer.Err() != nil:
		return n, stopped(b.outer, stageWaiting).gap(b.way)
	case errors.Is(cause, errTooLong):
		return n, collectors.Gapf(collectors.Timeout, "%s: the reply was not complete after %s and %d bytes", b.way, b.timeout, b.read)
	}
	return n, collectors.Gapf(collectors.Unreachable, "%s: the reply broke off after %d bytes: %v", b.way, b.read, err)
}

func (b *body) Close() error {
	b.done()
	return b.body.Close()
}

// A counted connection adds what is received to a run's cost.
type counted struct {
	net.Conn
	limit *limiter
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.limit.bytes.Add(int64(n))
	return n, err
}

// dial connects, and counts what comes.
func (s *Source) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: s.config.RequestTimeout}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return counted{c, s.limit}, nil
}

// newRequest makes a request that changes nothing.
func newRequest(rawURL, accept string) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodGet, rawURL, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return req, nil
}
