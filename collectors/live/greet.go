package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	certs "github.com/ktriage/ktriage/collectors/certificates"
)

// greet agrees on TLS with a server, whoever vouches for it, and tells what
// certificates it showed. Nothing is sent over the connection, and no credential
// shown but that for etcd to etcd, which would note in its log that somebody has
// none.
func (s *Source) greet(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	conf := &tls.Config{ServerName: u.Query().Get("name")}
	addr, dial := u.Host, s.dial
	switch u.Scheme {
	case "tls":
	case "pod+https":
		return s.greetPod(ctx, a, u, conf)
	case "kube", "apiserver":
		k, gap := s.kube()
		if gap != nil {
			return nil, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy}
		}
		if conf.ServerName == "" {
			conf.ServerName = k.tls.ServerName
		}
		target := url.URL{Scheme: "https", Host: u.Host}
		if u.Scheme == "kube" {
			target.Host, addr = k.base.Host, k.addr
		}
		if proxy, err := k.proxy()(&http.Request{URL: &target}); err == nil && proxy != nil {
			return nil, collectors.Gapf(collectors.NotAsked, "%s: it is behind the proxy %s, through which no certificate is asked for", a.way, proxy.Host)
		}
	case "etcd":
		access := s.etcd.current(s.config)
		if access.isPlain(u.Host) {
			return nil, collectors.Gapf(collectors.OutOfScope, "%s: it is spoken to without TLS", a.way)
		}
		if access.tls == nil {
			return nil, (&collectors.Gap{
				Reason: collectors.Forbidden, Detail: fmt.Sprintf("%s: no client certificate for etcd: %s", a.way, strings.Join(access.tried, "; ")),
			}).With(etcdRemedy)
		}
		conf.Certificates, conf.GetClientCertificate = access.tls.Certificates, access.tls.GetClientCertificate
	default:
		return nil, collectors.Gapf(collectors.NotAsked, "%s: a live cluster cannot be asked this way", a.way)
	}
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(addr)
	}
	return s.handshakeOnly(ctx, a, a.way, "tls "+addr, addr, conf, dial)
}

// greetPod does so at a port of a pod: directly on its node, else by port-forward.
func (s *Source) greetPod(ctx context.Context, a attempt, u *url.URL, conf *tls.Config) (*collectors.Reply, *collectors.Gap) {
	p, err := parsePod(u)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%v", err)
	}
	var direct *collectors.Gap
	if p.node != "" && p.node == s.config.NodeName {
		addr := net.JoinHostPort("127.0.0.1", p.port)
		reply, gap := s.handshakeOnly(ctx, a, a.way+" at "+addr, "tls "+addr, addr, conf, s.dial)
		if gap == nil || gap.Reason != collectors.Unreachable {
			return reply, gap
		}
		direct = gap
	}
	k, gap := s.kube()
	if gap != nil {
		return nil, joinGaps(direct, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy})
	}
	who := a.way + " by port-forward"
	if f, dead := s.breaker.refuses(k.breakerKey(), itStore); dead {
		f.reason = collectors.NoPath
		return nil, joinGaps(direct, f.gap(fmt.Sprintf("%s: the API server at %s", who, k.addr)))
	}
	turn := func() (func(), error) { return s.turnToForward(ctx, k, a.Request) }
	if err := s.openTunnel(ctx, k, p, a.within, turn); err != nil {
		return nil, joinGaps(direct, s.whyNoPath(ctx, err, a.within).gap(who))
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := s.forward(ctx, k, p)
		if err != nil && ctx.Err() == nil {
			err = &forwardError{s.whyNoPath(ctx, err, s.config.RequestTimeout)}
		}
		return c, err
	}
	reply, gap := s.handshakeOnly(ctx, a, who, "pod "+p.pod()+":"+p.port, "", conf, dial)
	if gap != nil {
		if gap.Reason == collectors.Unreachable && !strings.Contains(gap.Detail, kubeletReports) {
			gap.Reason = collectors.NoPath
		}
		return nil, joinGaps(direct, gap)
	}
	return reply, nil
}

// handshakeOnly dials and agrees on TLS. What the server showed counts, even if
// it then turns us away.
func (s *Source) handshakeOnly(ctx context.Context, a attempt, who, server, addr string, conf *tls.Config, dial dialFunc) (*collectors.Reply, *collectors.Gap) {
	if f, dead := s.breaker.refuses(server, itself); dead {
		return nil, f.gap(who)
	}
	release, err := s.turn(ctx, server, a.Request)
	if err != nil {
		return nil, noTurn(ctx).gap(who)
	}
	defer release()
	inner, cancel := context.WithTimeoutCause(ctx, a.within, &lateError{a.within})
	defer cancel()
	began, at := time.Now(), stageConnect
	fail := func(err error) (*collectors.Reply, *collectors.Gap) {
		if cause := context.Cause(inner); cause != nil {
			err = cause
		}
		f := explain(ctx, err, at, a.within)
		s.breaker.fails(server, itself, f)
		return nil, f.gap(who)
	}
	raw, err := dial(inner, "tcp", addr)
	if err != nil {
		return fail(err)
	}
	defer raw.Close()
	at = stageTLS
	var shown []*x509.Certificate
	conf.MinVersion, conf.InsecureSkipVerify = tls.VersionTLS12, true // it is looked at, not trusted
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		shown = cs.PeerCertificates
		return nil
	}
	c := tls.Client(raw, conf)
	if err := c.HandshakeContext(inner); err != nil && len(shown) == 0 {
		return fail(err)
	}
	c.Close()
	s.breaker.answers(server, itself)
	now := time.Now()
	return &collectors.Reply{
		At: now, Elapsed: now.Sub(began), From: a.way, Media: "application/x-pem-file", Cert: certOf(shown[0]),
		Body: io.NopCloser(bytes.NewReader(certs.Write(shown))),
	}, nil
}
