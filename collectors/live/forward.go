package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

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

// forward opens a connection to a port of a pod. The request that wants it has
// its turn already, so that the tunnel, should it have closed, takes no other.
func (s *Source) forward(ctx context.Context, k *kube, p podPort) (net.Conn, error) {
	if err := s.openTunnel(ctx, k, p, s.config.RequestTimeout, func() (func(), error) { return func() {}, nil }); err != nil {
		return nil, err
	}
	t := s.tunnels.to(p.pod())
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
	case <-ctx.Done():
		t.drop(conn)
		return nil, context.Cause(ctx)
	}
}

// upgrade makes the port-forward connection as kubectl does: SPDY inside a
// WebSocket, and where that is not to be had, SPDY alone. The context run is
// that of the run, and ctx ends when this is given up.
func (s *Source) upgrade(run, ctx context.Context, k *kube, p podPort) (httpstream.Connection, error) {
	const path = "/api/v1/namespaces/%s/pods/%s/portforward"
	u := *k.base
	u.Path = strings.TrimSuffix(k.base.Path, "/") + fmt.Sprintf(path, p.namespace, p.name)
	u.RawPath = ""
	t := &trace{began: time.Now()}
	ctx, cancel := context.WithCancelCause(httptrace.WithClientTrace(ctx, t.hooks()))
	defer cancel(nil)
	connect := s.config.connectWithin(s.config.RequestTimeout)
	defer time.AfterFunc(connect, func() {
		if at := t.stage(); at != stageStart && at != stageWaiting {
			cancel(&lateError{connect})
		}
	}).Stop()
	conn, err := s.upgradeWebSocket(ctx, k, &u)
	if httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) {
		conn, err = s.upgradeSPDY(ctx, k, &u)
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		s.breaker.answers(k.breakerKey(), itStore)
		return nil, refusedForward(p, int(status.ErrStatus.Code), status.ErrStatus.Message)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		f := explain(run, err, t.stage(), s.config.RequestTimeout)
		if f.how == notReached { // silence may be the kubelet's
			s.breaker.fails(k.breakerKey(), itself, f)
		}
		f.words = fmt.Sprintf("the API server at %s gave no port-forward: %s", k.addr, f.words)
		return nil, &forwardError{f}
	}
	s.breaker.answers(k.breakerKey(), itStore)
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
