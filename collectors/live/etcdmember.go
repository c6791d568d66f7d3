package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// members keeps one client for each etcd endpoint, so that what is asked of a
// member is answered by that member.
type members struct {
	mu     sync.Mutex
	access *etcdAccess // nil until first needed
	m      map[string]*member
}

func newMembers() *members { return &members{m: map[string]*member{}} }

func (e *members) current(c Config) etcdAccess {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.access == nil {
		a := c.findEtcd(nil)
		e.access = &a
	}
	return *e.access
}

// adopt makes what was found the access of all later requests.
func (e *members) adopt(a etcdAccess) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.access != nil {
		a.generation = e.access.generation + 1
	}
	e.access = &a
}

func (e *members) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.m {
		m.client.Close() // of no consequence: nothing was written
	}
}

// drop forgets a client whose connection could not be made.
func (e *members) drop(m *member) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.m, func(_ string, x *member) bool { return x == m })
	m.client.Close()
}

// A member is the client of one endpoint.
type member struct {
	client *clientv3.Client
	link   *link
}

// conn is the connection to the endpoint. Calls are made on it and not by the
// client's own methods: those wait for a broken connection to come back, when
// why it broke is what there is to tell, and some make a connection for each
// call.
func (m *member) conn() *grpc.ClientConn { return m.client.ActiveConnection() }

func (e *members) member(s *Source, addr string, a etcdAccess, plain bool) (*member, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := fmt.Sprintf("%s %d", addr, a.generation)
	if m := e.m[key]; m != nil {
		return m, nil
	}
	l := &link{}
	endpoint, creds := "http://"+addr, insecure.NewCredentials()
	if !plain {
		endpoint, creds = "https://"+addr, l.over(credentials.NewTLS(a.tls))
	}
	// The client's ways to get through to etcd in the end, whatever it takes,
	// are turned off: retries, waits, and the balancer that its service config
	// asks for, which redials behind our back. Its options for TLS and for
	// dialling hide how an attempt failed, so ours take their place.
	client, err := clientv3.New(clientv3.Config{
		Endpoints:       []string{endpoint},
		Logger:          zap.NewNop(),
		MaxUnaryRetries: 1, // attempts, not retries; 0 would be a hundred
		DialOptions: []grpc.DialOption{
			grpc.WithTransportCredentials(creds),
			grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return l.dial(ctx, s, addr, plain) }),
			grpc.WithUserAgent("ktriage/" + s.config.Version),
			grpc.WithDisableRetry(),
			grpc.WithDisableServiceConfig(),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: s.config.RequestTimeout}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMember)),
		},
	})
	if err != nil {
		return nil, err
	}
	m := &member{client: client, link: l}
	e.m[key] = m
	return m, nil
}

// maxMember bounds a member's reply. The largest is a member list of some
// kilobytes; a range without values is bounded by its limit.
const maxMember = 16 << 20

// connect waits until the connection stands. Its error is that of the last
// attempt, which gRPC itself shows as text only.
func (m *member) connect(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, &lateError{within})
	defer cancel()
	for {
		st := m.conn().GetState()
		switch st {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			m.conn().Connect()
		case connectivity.TransientFailure, connectivity.Shutdown:
			if err := m.link.last(); err != nil {
				return err
			}
			return errNotGRPC
		}
		if !m.conn().WaitForStateChange(ctx, st) {
			return context.Cause(ctx)
		}
	}
}

// afterHandshake finds out why a connection broke just after TLS was agreed
// on. It is then that a server says that it does not accept a certificate, and
// a gRPC client that is writing at that moment does not hear it. This one
// listens. If it hears nothing, the error stays what it was.
func (s *Source) afterHandshake(ctx context.Context, addr string, conf *tls.Config, was error) error {
	raw, err := s.dial(ctx, "tcp", addr)
	if err != nil {
		return was
	}
	defer raw.Close()
	conf = conf.Clone()
	conf.NextProtos = []string{"h2"}
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(addr)
	}
	c := tls.Client(raw, conf)
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(hearsay)); err != nil {
		return was
	}
	var op *net.OpError
	if _, err := c.Read(make([]byte, 1)); errors.As(err, &op) && op.Op == remoteError {
		return err
	}
	return was
}

// hearsay is how long an alert may take that was sent as the handshake ended.
const hearsay = time.Second

var errNotGRPC = errors.New("what answers there does not speak gRPC")

// A link remembers how far the connection to a member came, and why it broke.
type link struct {
	mu  sync.Mutex
	at  stage
	err error
}

func (l *link) set(at stage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.err = at, err
}

func (l *link) last() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *link) stage() stage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *link) dial(ctx context.Context, s *Source, addr string, plain bool) (net.Conn, error) {
	l.set(stageConnect, nil)
	c, err := s.dial(ctx, "tcp", addr)
	if err != nil {
		l.set(stageConnect, err)
		return nil, err
	}
	if plain {
		l.set(stageWaiting, nil)
		return &linkedConn{Conn: c, link: l}, nil
	}
	l.set(stageTLS, nil)
	return c, nil
}

// over makes credentials that tell the link how the handshake went, and what
// breaks the connection after it: with TLS 1.3 that is when a server says that
// it does not accept the client certificate.
func (l *link) over(c credentials.TransportCredentials) credentials.TransportCredentials {
	return &linkedCredentials{c, l}
}

type linkedCredentials struct {
	credentials.TransportCredentials
	link *link
}

func (c *linkedCredentials) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		c.link.set(stageTLS, err)
		return nil, nil, err
	}
	c.link.set(stageWaiting, nil)
	return &linkedConn{Conn: conn, link: c.link}, info, nil
}

func (c *linkedCredentials) Clone() credentials.TransportCredentials {
	return &linkedCredentials{c.TransportCredentials.Clone(), c.link}
}

// linkedConn tells the link what broke it. Errors after that one are of our
// own closing.
type linkedConn struct {
	net.Conn
	link  *link
	first sync.Once
}

func (c *linkedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.first.Do(func() { c.link.set(stageWaiting, err) })
	}
	return n, err
}
