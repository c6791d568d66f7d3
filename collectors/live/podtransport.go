package live

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/transport"
)

// A portTransport is the transport to one port of one pod.
//
// Most components serve a certificate that they signed themselves, in memory.
// It cannot be verified, so whoever answers gets to see at most a client
// certificate, which is no secret. A bearer token goes only over a connection
// on which the cluster's CA vouches for the other side, or anywhere if the
// user said so.
type portTransport struct {
	open    http.RoundTripper // to whoever answers
	vouched http.RoundTripper // with the token, to whom the CA vouches for; nil if there is none to send

	showed  *atomic.Bool // a client certificate was shown
	strange atomic.Bool  // nobody vouches for who answers there
	forced  bool         // the token is sent over open

	mu    sync.Mutex
	spare []net.Conn // agreed on with a stranger; open sends no secret over it
}

func (t *portTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.vouched != nil && !t.strange.Load() {
		resp, err := t.vouched.RoundTrip(req)
		if !errors.Is(err, errStrange) {
			return resp, err
		}
		t.strange.Store(true)
	}
	return t.open.RoundTrip(req)
}

// sendsToken reports whether requests carry a token.
func (t *portTransport) sendsToken() bool {
	return t.forced || t.vouched != nil && !t.strange.Load()
}

// CloseIdleConnections closes what no request uses.
func (t *portTransport) CloseIdleConnections() {
	utilnet.CloseIdleConnectionsFor(t.open)
	if t.vouched != nil {
		utilnet.CloseIdleConnectionsFor(t.vouched)
	}
	for c := t.reuse(); c != nil; c = t.reuse() {
		c.Close()
	}
}

// keep puts a connection by that open can use: to break it off would leave a
// line in the component's log that someone would look into.
func (t *portTransport) keep(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spare = append(t.spare, c)
}

func (t *portTransport) reuse() net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.spare)
	if n == 0 {
		return nil
	}
	c := t.spare[n-1]
	t.spare = t.spare[:n-1]
	return c
}

var errStrange = errors.New("nobody vouches for its certificate")

func (s *Source) newPortTransport(p podPort, k *kube, dial dialFunc) (http.RoundTripper, error) {
	plain := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 2}
	t := &portTransport{open: plain, showed: new(atomic.Bool)}
	if !p.tls {
		return t, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	if k != nil && k.tls.GetClientCertificate != nil {
		conf.GetClientCertificate = func(i *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c, err := k.tls.GetClientCertificate(i)
			if err == nil && len(c.Certificate) > 0 {
				t.showed.Store(true)
			}
			return c, err
		}
	}
	agree := func(ctx context.Context, network, addr string) (*tls.Conn, error) {
		raw, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return s.handshake(ctx, raw, conf)
	}
	plain.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if c := t.reuse(); c != nil {
			return c, nil
		}
		return agree(ctx, network, addr)
	}
	if k == nil {
		return t, nil
	}
	if s.config.ForwardToken {
		rt, err := k.tokenOver(plain)
		t.open, t.forced = rt, true
		return t, err
	}
	if !k.hasToken() || k.tls.InsecureSkipVerify {
		return t, nil // there is nothing to send, or no CA to ask
	}
	rt, err := k.tokenOver(&http.Transport{MaxIdleConnsPerHost: 2, DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := agree(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if verify(c.ConnectionState().PeerCertificates, k.tls.RootCAs, append(k.names(), componentNames...)) != nil {
			t.keep(c)
			return nil, errStrange
		}
		return c, nil
	}})
	t.vouched = rt
	return t, err
}

// componentNames are for whom a certificate may be that a pod shows, besides
// the API server's names, for the token to go there. The addresses that ktriage
// dials, 127.0.0.1 and what a port-forward leads to, say nothing of who
// answers: a kubelet may announce a pod of any name and any port. So the
// certificate must be for a name that only whoever runs the CA gives away.
var componentNames = []string{
	"kube-scheduler.kube-system.svc",
	"kube-controller-manager.kube-system.svc",
}

// hasToken reports whether there is something to send with each request.
func (k *kube) hasToken() bool {
	c := k.transport
	return c.BearerToken != "" || c.BearerTokenFile != "" || c.WrapTransport != nil
}

// tokenOver adds the kubeconfig's token to what is sent over rt, and no other
// credential: a password or a name to act as is for the API server alone.
func (k *kube) tokenOver(rt http.RoundTripper) (http.RoundTripper, error) {
	return transport.HTTPWrappersForConfig(&transport.Config{
		BearerToken: k.transport.BearerToken, BearerTokenFile: k.transport.BearerTokenFile,
		WrapTransport: k.transport.WrapTransport,
	}, rt)
}

// handshake agrees on TLS, as http.Transport would.
func (s *Source) handshake(ctx context.Context, raw net.Conn, conf *tls.Config) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.config.RequestTimeout) // the request's own timeout comes first
	defer cancel()
	if h := httptrace.ContextClientTrace(ctx); h != nil && h.TLSHandshakeStart != nil {
		h.TLSHandshakeStart()
	}
	c := tls.Client(raw, conf)
	if err := c.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}
