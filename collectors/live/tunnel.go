package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/ktriage/ktriage/collectors"
)

// A tunnel is the port-forward connection to one pod. It carries any number of
// connections to the pod's ports, and nothing listens on this machine.
type tunnel struct {
	mu      sync.Mutex
	conn    httpstream.Connection
	next    int      // the number of the last connection
	opening *opening // nil if nobody is at it
}

// An opening is the making of a tunnel's connection.
type opening struct {
	begun chan struct{} // closed when it had its turn
	done  chan struct{} // closed when it ended, with err
	err   error
}

// tunnels keeps the tunnels of a run by pod.
type tunnels struct {
	mu sync.Mutex
	m  map[string]*tunnel
	// turns bounds how many are being opened at a time. Kubelets that do not
	// answer must not keep the API server and etcd from being asked.
	turns chan struct{}
}

func newTunnels(inFlight int) *tunnels {
	return &tunnels{m: map[string]*tunnel{}, turns: make(chan struct{}, max(1, inFlight/2))}
}

func (t *tunnels) to(pod string) *tunnel {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m[pod] == nil {
		t.m[pod] = &tunnel{}
	}
	return t.m[pod]
}

func (t *tunnels) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.m {
		x.drop(nil)
	}
}

// drop closes the connection if it is still the given one, or whichever it is.
func (t *tunnel) drop(c httpstream.Connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil && (c == nil || c == t.conn) {
		t.conn.Close()
		t.conn = nil
	}
}

// connection returns the connection that stands, and the number of the next
// stream pair in it.
func (t *tunnel) connection() (httpstream.Connection, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stands() {
		return nil, 0
	}
	t.next++
	return t.conn, t.next
}

func (t *tunnel) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stands()
}

// stands reports whether there is a connection. The caller holds the lock.
func (t *tunnel) stands() bool {
	if t.conn == nil {
		return false
	}
	select {
	case <-t.conn.CloseChan():
		t.conn = nil
		return false
	default:
		return true
	}
}

// open sees that there is a connection, or joins those who do.
func (t *tunnel) open(dial func(*opening) (httpstream.Connection, error)) *opening {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stands() || t.opening != nil {
		return t.opening
	}
	o := &opening{begun: make(chan struct{}), done: make(chan struct{})}
	t.opening = o
	go func() {
		c, err := dial(o)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.conn, t.opening, o.err = c, nil, err
		close(o.done)
	}()
	return o
}

// openTunnel sees that there is a tunnel to a pod. Those who want the same one
// wait for the one who makes it; turn is how that one gets leave to. The time
// runs from then on. A tunnel that comes too late for one serves the next.
func (s *Source) openTunnel(ctx context.Context, k *kube, p podPort, within time.Duration, turn func() (func(), error)) error {
	o := s.tunnels.to(p.pod()).open(func(o *opening) (httpstream.Connection, error) {
		release, err := turn()
		close(o.begun)
		if err != nil {
			return nil, err
		}
		defer release()
		return s.dialTunnel(ctx, k, p)
	})
	if o == nil {
		return nil
	}
	select {
	case <-o.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return &forwardError{failure{reason: collectors.Unreachable, words: fmt.Sprintf("not open within %s", within), how: silent}}
	}
}

// turnToForward waits until a tunnel may be opened, as what more than one
// request waits for. As long as a request may
// take, it counts as one. One that takes longer than that waits for a kubelet,
// or for the store, and costs the API server no more than one that stands.
func (s *Source) turnToForward(run context.Context, k *kube, r collectors.Request) (release func(), err error) {
	r.Urgency = max(r.Urgency, 1)
	ctx, cancel := s.looks.turnBy(run, r)
	defer cancel()
	select {
	case s.tunnels.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, &forwardError{noTurn(run)}
	}
	end, err := s.turn(run, k.breakerKey(), r)
	if err != nil {
		<-s.tunnels.turns
		return nil, &forwardError{noTurn(run)}
	}
	t := time.AfterFunc(s.config.RequestTimeout, end)
	return func() {
		t.Stop()
		end()
		<-s.tunnels.turns
	}, nil
}

// patient is how many times longer than a request waits for it a tunnel may
// take. Where the store is slow, the API server needs several reads of it
// before it asks the kubelet; who looks the second time then finds it open.
const patient = 2

// dialTunnel makes the connection.
func (s *Source) dialTunnel(ctx context.Context, k *kube, p podPort) (httpstream.Connection, error) {
	// The context may bring hooks that watch another connection. They must not
	// take this one for it, so another context goes on, which ends when this does.
	inner, cancel := context.WithTimeoutCause(context.Background(), patient*s.config.RequestTimeout, &lateError{patient * s.config.RequestTimeout})
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	type result struct {
		conn httpstream.Connection
		err  error
	}
	c := make(chan result, 1)
	go func() {
		conn, err := s.upgrade(ctx, inner, k, p)
		c <- result{conn, err}
	}()
	select {
	case r := <-c:
		return r.conn, r.err
	case <-inner.Done():
	}
	select {
	case r := <-c:
		return r.conn, r.err
	case <-time.After(grace): // a credential plugin that hangs is not waited for
		go func() {
			if r := <-c; r.err == nil {
				r.conn.Close()
			}
		}()
		return nil, context.Cause(inner)
	}
}
