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

// greetPod does so at a port of a pod.
func (s *Source) greetPod(ctx context.Context, a attempt, u *url.URL, conf *tls.Config) (*collectors.Reply, *collectors.Gap) {
	return s.throughPod(ctx, a, u, func(a attempt, p podPort, _ *kube, who, addr string, dial dialFunc) (*collectors.Reply, *collectors.Gap) {
		server := "pod " + p.pod() + ":" + p.port
		if addr != "" {
			server = "tls " + addr
		}
		return s.handshakeOnly(ctx, a, who, server, addr, conf, dial)
	})
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
