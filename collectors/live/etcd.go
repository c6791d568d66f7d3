package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/ktriage/ktriage/collectors"
)

const etcdRemedy = "give a client certificate for etcd: --etcd-cacert, --etcd-cert and --etcd-key, or run on a control-plane node as root"

// askEtcd answers etcd://host:port/…: gRPC to a Call, HTTP to the rest.
func (s *Source) askEtcd(ctx context.Context, r collectors.Request, way string, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	access := s.etcd.current(s.config)
	plain := access.isPlain(u.Host)
	if !plain && access.tls == nil {
		return nil, (&collectors.Gap{
			Reason: collectors.Forbidden,
			Detail: fmt.Sprintf("%s: no client certificate for etcd: %s", way, strings.Join(access.tried, "; ")),
		}).With(etcdRemedy)
	}
	if r.Verb == collectors.Call {
		return s.callEtcd(ctx, way, u, access, plain)
	}
	target := *u
	target.Scheme = "https"
	if plain {
		target.Scheme = "http"
	}
	rt, err := s.transports.get(fmt.Sprintf("etcd %s %d", u.Host, s.etcd.generation()), func() (http.RoundTripper, error) {
		return &http.Transport{DialContext: s.dial, TLSClientConfig: access.tls.Clone(), MaxIdleConnsPerHost: 2, TLSHandshakeTimeout: 2 * s.config.RequestTimeout}, nil
	})
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
	}
	return s.askHTTP(ctx, r, way, "etcd "+u.Host, rt, &target, access.withRemedy)
}

// askPlain answers http://host:port/path, without any credentials.
func (s *Source) askPlain(ctx context.Context, r collectors.Request, way string, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	rt, err := s.transports.get("http "+u.Host, func() (http.RoundTripper, error) {
		return &http.Transport{DialContext: s.dial, MaxIdleConnsPerHost: 2}, nil
	})
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
	}
	target := *u
	target.User = nil
	return s.askHTTP(ctx, r, way, "http "+u.Host, rt, &target, nil)
}

// askHTTP asks something that speaks HTTP and is not the Kubernetes API.
func (s *Source) askHTTP(ctx context.Context, r collectors.Request, way, addr string, rt http.RoundTripper, target *url.URL, remedy func(*collectors.Gap) *collectors.Gap) (*collectors.Reply, *collectors.Gap) {
	req, err := newRequest(target.String(), acceptFor(r.Verb))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
	}
	req.Header.Set("User-Agent", "ktriage/"+s.config.Version)
	a, gap := s.exchange(ctx, way, addr, rt, req)
	if gap == nil {
		var reply *collectors.Reply
		if reply, gap = judge(way, r.Verb, a); gap == nil {
			return reply, nil
		}
	}
	if remedy != nil {
		gap = remedy(gap)
	}
	return nil, gap
}

// withRemedy adds which flags would change a refusal.
func (a etcdAccess) withRemedy(g *collectors.Gap) *collectors.Gap {
	if g.Reason == collectors.Unauthorized || g.Reason == collectors.Forbidden {
		from := a.credentialsFrom
		if !a.credentials {
			return g.With(etcdRemedy)
		}
		return g.With("the client certificate came from " + from + "; give another: --etcd-cert and --etcd-key")
	}
	if g.Reason == collectors.Unreachable && g.Remedy != "" {
		return g.With("give the CA that signed etcd's certificates: --etcd-cacert")
	}
	return g
}

// callEtcd makes one remote procedure call to one member.
func (s *Source) callEtcd(ctx context.Context, way string, u *url.URL, access etcdAccess, plain bool) (*collectors.Reply, *collectors.Gap) {
	call, err := etcdCall(strings.TrimPrefix(u.Path, "/"), u.Query())
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", way, err)
	}
	addr := "etcd " + u.Host
	if f, dead := s.breaker.open(addr); dead {
		return nil, access.withRemedy(f.gap(way))
	}
	release, err := s.limit.acquire(ctx)
	if err != nil {
		return nil, stopped(ctx, stageStart).gap(way)
	}
	defer release()
	m, err := s.etcd.member(s, u.Host, access, plain)
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", way, err)
	}
	inner, cancel := context.WithTimeoutCause(ctx, s.config.RequestTimeout, errNoAnswer)
	defer cancel()
	if err := m.connect(inner); err != nil {
		s.etcd.drop(m) // gRPC would wait before it tries again; a later request shall not
		if m.link.stage() == stageWaiting && !plain {
			err = s.afterHandshake(inner, u.Host, access.tls, err)
		}
		f := explain(ctx, err, m.link.stage(), s.config.RequestTimeout)
		s.breaker.fails(addr, f)
		return nil, access.withRemedy(f.gap(way))
	}
	began := time.Now()
	resp, err := call(inner, m.conn)
	at := time.Now()
	if err != nil {
		f := explainRPC(ctx, err, m.link, s.config.RequestTimeout)
		s.breaker.fails(addr, f)
		return nil, access.withRemedy(f.gap(way))
	}
	s.breaker.answers(addr)
	body, err := json.Marshal(resp)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
	}
	return &collectors.Reply{At: at, Elapsed: at.Sub(began), From: way, Media: "application/json", Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// An rpc is one call, ready to be made.
type rpc func(context.Context, *grpc.ClientConn) (any, error)

// etcdCall makes the call that a URL's path and query name. Only calls that
// read are known, and none of them asks for the value of a key: values hold
// the cluster's secrets.
func etcdCall(name string, q url.Values) (rpc, error) {
	switch name {
	case "member/list":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewClusterClient(c).MemberList(ctx, &pb.MemberListRequest{Linearizable: !isTrue(q, "serializable")})
		}, nil
	case "maintenance/status":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).Status(ctx, &pb.StatusRequest{})
		}, nil
	case "maintenance/alarms":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_GET, Alarm: pb.AlarmType_NONE})
		}, nil
	case "maintenance/hashkv":
		rev, err := number(q, "rev")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).HashKV(ctx, &pb.HashKVRequest{Revision: rev})
		}, nil
	case "kv/range":
		return rangeCall(q)
	}
	return nil, fmt.Errorf("etcd has no call %q that ktriage makes", name)
}

func rangeCall(q url.Values) (rpc, error) {
	limit, err := number(q, "limit")
	if err != nil {
		return nil, err
	}
	req := &pb.RangeRequest{
		Key: []byte(q.Get("key")), Limit: limit, Serializable: isTrue(q, "serializable"),
		KeysOnly: true, CountOnly: isTrue(q, "count_only"),
	}
	if len(req.Key) == 0 && !isTrue(q, "prefix") {
		return nil, fmt.Errorf("a range needs a key")
	}
	if isTrue(q, "prefix") {
		req.RangeEnd = afterPrefix(req.Key)
		if len(req.Key) == 0 {
			req.Key = []byte{0}
		}
	}
	return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
		resp, err := pb.NewKVClient(c).Range(ctx, req)
		for _, kv := range resp.GetKvs() {
			kv.Value = nil // keys only was asked for; a server that does not heed it changes nothing
		}
		return resp, err
	}, nil
}

// afterPrefix is the end of the range of all keys that begin with prefix.
func afterPrefix(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0} // no upper end
}

func isTrue(q url.Values, name string) bool {
	b, err := strconv.ParseBool(q.Get(name))
	return err == nil && b
}

func number(q url.Values, name string) (int64, error) {
	if !q.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", name, q.Get(name))
	}
	return n, nil
}

// explainRPC classifies the error of a call on a connection that stands.
func explainRPC(ctx context.Context, err error, l *link, timeout time.Duration) failure {
	if ctx.Err() != nil {
		return stopped(ctx, stageWaiting)
	}
	st := status.Convert(err)
	f := failure{reason: collectors.ServerError, words: st.Message(), how: answered}
	switch st.Code() {
	case codes.DeadlineExceeded:
		return timedOut(stageWaiting, timeout)
	case codes.PermissionDenied:
		f.reason = collectors.Forbidden
	case codes.Unauthenticated:
		f.reason = collectors.Unauthorized
	case codes.Unimplemented:
		f.reason, f.words = collectors.Absent, "this etcd has no such call: "+st.Message()
	case codes.Unavailable:
		// etcd itself uses this code, to say that it has no leader. It puts
		// its name before what it says; the transport does not.
		if strings.HasPrefix(st.Message(), "etcdserver: ") {
			return f
		}
		if last := l.last(); last != nil {
			return explain(ctx, last, stageWaiting, timeout)
		}
		f.reason, f.how = collectors.Unreachable, silent
	}
	return f
}

// members keeps one connection for each etcd endpoint, so that what is asked
// of a member is answered by that member.
type members struct {
	mu     sync.Mutex
	access *etcdAccess // nil until first needed
	gen    int         // grows when access changes
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
	e.access = &a
	e.gen++
}

func (e *members) generation() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gen
}

func (e *members) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.m {
		m.conn.Close()
	}
}

// drop forgets a connection that could not be made.
func (e *members) drop(m *member) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.m, func(_ string, x *member) bool { return x == m })
	m.conn.Close()
}

// A member is the connection to one endpoint.
type member struct {
	conn *grpc.ClientConn
	link *link
}

func (e *members) member(s *Source, addr string, a etcdAccess, plain bool) (*member, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := fmt.Sprintf("%s %d", addr, e.gen)
	if m := e.m[key]; m != nil {
		return m, nil
	}
	l := &link{}
	creds := insecure.NewCredentials()
	if !plain {
		creds = l.over(credentials.NewTLS(a.tls))
	}
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return l.dial(ctx, s, addr, plain) }),
		grpc.WithUserAgent("ktriage/"+s.config.Version),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: s.config.RequestTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMember)),
	)
	if err != nil {
		return nil, err
	}
	m := &member{conn: conn, link: l}
	e.m[key] = m
	return m, nil
}

// maxMember bounds a member's reply. The largest is a member list of some
// kilobytes; a range without values is bounded by its limit.
const maxMember = 16 << 20

// connect waits until the connection stands. Its error is that of the last
// attempt, which gRPC itself shows as text only.
func (m *member) connect(ctx context.Context) error {
	for {
		st := m.conn.GetState()
		switch st {
		case connectivity.Ready:
			return nil
		case connectivity.Idle:
			m.conn.Connect()
		case connectivity.TransientFailure, connectivity.Shutdown:
			if err := m.link.last(); err != nil {
				return err
			}
			return errNotGRPC
		}
		if !m.conn.WaitForStateChange(ctx, st) {
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
