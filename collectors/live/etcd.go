package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

const etcdRemedy = "give a client certificate for etcd: --etcd-cacert, --etcd-cert and --etcd-key, or run on a control-plane node as root"

// askEtcd answers etcd://host:port/…: gRPC to a Call, HTTP to the rest.
func (s *Source) askEtcd(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	access := s.etcd.current(s.config)
	plain := access.isPlain(u.Host)
	if !plain && access.tls == nil {
		return nil, (&collectors.Gap{
			Reason: collectors.Forbidden,
			Detail: fmt.Sprintf("%s: no client certificate for etcd: %s", a.way, strings.Join(access.tried, "; ")),
		}).With(etcdRemedy)
	}
	if a.Verb == collectors.Call {
		return s.callEtcd(ctx, a, u, access, plain)
	}
	target := *u
	target.Scheme = "https"
	if plain {
		target.Scheme = "http"
	}
	rt, err := s.transports.get(fmt.Sprintf("etcd %s %d", u.Host, access.generation), func() (http.RoundTripper, error) {
		return &http.Transport{DialContext: s.dial, TLSClientConfig: access.tls.Clone(), MaxIdleConnsPerHost: 2, TLSHandshakeTimeout: 2 * s.config.RequestTimeout}, nil
	})
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	return s.askHTTP(ctx, a, "etcd "+u.Host, rt, &target, access.withRemedy)
}

// askPlain answers http://host:port/path, without any credentials.
func (s *Source) askPlain(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	rt, err := s.transports.get("http "+u.Host, func() (http.RoundTripper, error) {
		return &http.Transport{DialContext: s.dial, MaxIdleConnsPerHost: 2}, nil
	})
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	target := *u
	target.User = nil
	return s.askHTTP(ctx, a, "http "+u.Host, rt, &target, nil)
}

// askHTTP asks something that speaks HTTP and is not the Kubernetes API.
func (s *Source) askHTTP(ctx context.Context, a attempt, addr string, rt http.RoundTripper, target *url.URL, remedy func(*collectors.Gap) *collectors.Gap) (*collectors.Reply, *collectors.Gap) {
	req, err := newRequest(target.String(), acceptFor(a.Request))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	req.Header.Set("User-Agent", "ktriage/"+s.config.Version)
	got, gap := s.exchange(ctx, a.way, addr, rt, req, a)
	if gap == nil {
		var reply *collectors.Reply
		if reply, gap = judge(a.way, a.Verb, got); gap == nil {
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

// hashWithin is how long a member may take to read all that it holds: 8 GiB,
// the most that etcd is meant for, at no more than 200 MB/s.
const hashWithin = 45 * time.Second

// callEtcd makes one remote procedure call to one member.
func (s *Source) callEtcd(ctx context.Context, a attempt, u *url.URL, access etcdAccess, plain bool) (*collectors.Reply, *collectors.Gap) {
	call, err := etcdCall(strings.TrimPrefix(u.Path, "/"), u.Query())
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", a.way, err)
	}
	if u.Path == "/maintenance/hashkv" {
		a.within = max(a.within, hashWithin)
	}
	addr := "etcd " + u.Host
	if f, dead := s.breaker.isDead(addr, itself); dead {
		return nil, access.withRemedy(f.gap(a.way))
	}
	release, err := s.turn(ctx, addr, a.Request)
	if err != nil {
		return nil, noTurn(ctx).gap(a.way)
	}
	defer release()
	if f, dead := s.breaker.refuses(addr, itself); dead { // meanwhile
		return nil, access.withRemedy(f.gap(a.way))
	}
	m, err := s.etcd.member(s, u.Host, access, plain)
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", a.way, err)
	}
	inner, cancel := context.WithTimeoutCause(ctx, a.within, &lateError{a.within})
	defer cancel()
	if err := m.connect(inner, a.connect); err != nil {
		s.etcd.drop(m) // gRPC would wait before it tries again; a later request shall not
		if m.link.stage() == stageWaiting && !plain {
			err = s.afterHandshake(inner, u.Host, access.tls, err)
		}
		f := explain(ctx, err, m.link.stage(), a.within)
		s.breaker.fails(addr, itself, f)
		return nil, access.withRemedy(f.gap(a.way))
	}
	began := time.Now()
	resp, err := call(inner, m.conn())
	at := time.Now()
	if err != nil {
		f := explainRPC(ctx, err, m.link, a.within)
		s.breaker.fails(addr, itself, f)
		return nil, access.withRemedy(f.gap(a.way))
	}
	s.breaker.answers(addr, itself)
	body, err := json.Marshal(resp)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", a.way, err)
	}
	return &collectors.Reply{At: at, Elapsed: at.Sub(began), From: a.way, Media: "application/json", Body: io.NopCloser(bytes.NewReader(body))}, nil
}
