package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	constants "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/websocket"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/ktriage/ktriage/collectors"
)

// A forwardError says why port-forward gave no connection.
type forwardError struct {
	failure
}

func (e *forwardError) Error() string { return e.words }

// A tunnel is the port-forward connection to one pod. It carries any number of
// connections to the pod's ports, and nothing listens on this machine.
type tunnel struct {
	dialing chan struct{} // holds one while the connection is being made
	mu      sync.Mutex
	conn    httpstream.Connection
	next    int // the number of the last connection
}

// tunnels keeps the tunnels of a run by pod.
type tunnels struct {
	mu sync.Mutex
	m  map[string]*tunnel
}

func newTunnels() *tunnels { return &tunnels{m: map[string]*tunnel{}} }

func (t *tunnels) to(pod string) *tunnel {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m[pod] == nil {
		t.m[pod] = &tunnel{dialing: make(chan struct{}, 1)}
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
	if t.conn == nil {
		return nil, 0
	}
	select {
	case <-t.conn.CloseChan():
		t.conn = nil
		return nil, 0
	default:
	}
	t.next++
	return t.conn, t.next
}

// forward opens a connection to a port of a pod.
func (s *Source) forward(ctx context.Context, k *kube, p podPort) (net.Conn, error) {
	// The context brings hooks that watch this connection. They must not take
	// the one to the API server for it, so another context goes on, which ends
	// when this does.
	inner, cancel := context.WithTimeoutCause(context.Background(), s.config.RequestTimeout, errNoAnswer)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	t := s.tunnels.to(p.namespace + "/" + p.name)
	if err := t.open(inner, func() (httpstream.Connection, error) { return s.upgrade(inner, k, p) }); err != nil {
		return nil, err
	}
	conn, number := t.connection()
	if conn == nil {
		return nil, &forwardError{failure{reason: collectors.Unreachable, words: "the port-forward connection was closed at once", how: silent}}
	}
	type result struct {
		conn net.Conn
		err  error
	}
	c := make(chan result, 1)
	go func() { // opening a stream waits for half a minute, whatever a context says
		f, err := openStreams(conn, number, p.port, s.limit)
		c <- result{f, err}
	}()
	select {
	case r := <-c:
		if r.err != nil {
			t.drop(conn)
			return nil, r.err
		}
		return r.conn, nil
	case <-inner.Done():
		t.drop(conn)
		return nil, context.Cause(inner)
	}
}

// open sees that there is a connection. One caller makes it, the others wait
// for that one, and none for longer than its context lasts.
func (t *tunnel) open(ctx context.Context, dial func() (httpstream.Connection, error)) error {
	select {
	case t.dialing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c, _ := t.connection(); c != nil {
		<-t.dialing
		return nil
	}
	failed := make(chan error, 1)
	go func() {
		defer func() { <-t.dialing }()
		c, err := dial()
		if err == nil {
			t.mu.Lock()
			t.conn = c
			t.mu.Unlock()
		}
		failed <- err
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done(): // a credential plugin that hangs is not waited for
		return context.Cause(ctx)
	}
}

// upgrade makes the port-forward connection as kubectl does: SPDY inside a
// WebSocket, and where that is not to be had, SPDY alone.
func (s *Source) upgrade(ctx context.Context, k *kube, p podPort) (httpstream.Connection, error) {
	const path = "/api/v1/namespaces/%s/pods/%s/portforward"
	u := *k.base
	u.Path = strings.TrimSuffix(k.base.Path, "/") + fmt.Sprintf(path, p.namespace, p.name)
	u.RawPath = ""
	conn, err := s.upgradeWebSocket(ctx, k, &u)
	if httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) {
		conn, err = s.upgradeSPDY(ctx, k, &u)
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		s.breaker.answers(k.breakerKey())
		return nil, refusedForward(p, int(status.ErrStatus.Code), status.ErrStatus.Message)
	}
	if err != nil {
		f := explain(ctx, err, stageConnect, s.config.RequestTimeout)
		s.breaker.fails(k.breakerKey(), f)
		f.words = fmt.Sprintf("the API server at %s gave no port-forward: %s", k.addr, f.words)
		return nil, &forwardError{f}
	}
	s.breaker.answers(k.breakerKey())
	return conn, nil
}

func (s *Source) upgradeWebSocket(ctx context.Context, k *kube, u *url.URL) (httpstream.Connection, error) {
	ws := &websocket.RoundTripper{TLSConfig: k.tls, Proxier: k.proxy()}
	rt, err := k.over(ws)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	conn, err := websocket.Negotiate(rt, ws, req, constants.WebsocketsSPDYTunnelingPortForwardV1)
	if err != nil {
		return nil, err
	}
	return spdy.NewClientConnectionWithPings(portforward.NewTunnelingConnectionWithLogger(klog.TODO(), conn), portforward.PingPeriod)
}

func (s *Source) upgradeSPDY(ctx context.Context, k *kube, u *url.URL) (httpstream.Connection, error) {
	up, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{TLS: k.tls, Proxier: k.proxy(), PingPeriod: portforward.PingPeriod})
	if err != nil {
		return nil, err
	}
	rt, err := k.over(up)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Add(httpstream.HeaderProtocolVersion, portforward.PortForwardProtocolV1Name)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		st, _ := readStatus(&answer{Response: resp})
		st.Code = int32(resp.StatusCode)
		return nil, &apierrors.StatusError{ErrStatus: st}
	}
	return up.NewConnection(resp)
}

// refusedForward says why the API server, or the kubelet through it, refused.
func refusedForward(p podPort, code int, message string) *forwardError {
	f := failure{reason: collectors.Unreachable, how: notReached}
	switch code {
	case http.StatusUnauthorized:
		f.reason, f.remedy = collectors.Unauthorized, "the credentials of the kubeconfig were not accepted: have they expired?"
	case http.StatusForbidden:
		f.reason = collectors.Forbidden
		f.remedy = fmt.Sprintf("grant get and create on pods/portforward: kubectl create role ktriage-forward -n %s --verb=get,create --resource=pods/portforward", p.namespace)
	case http.StatusNotFound:
		f.reason = collectors.Absent
	}
	f.words = fmt.Sprintf("HTTP %d %s", code, http.StatusText(code))
	if message != "" {
		f.words += ": " + quote(message)
	}
	return &forwardError{f}
}
