package machine

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// healthWithin is how long a component may take: its own probes allow 15 s, and
// one that works needs ms.
const healthWithin = 4 * time.Second

// maxHealth is what is kept of an answer.
const maxHealth = 4 << 10

// health asks the components on loopback. Whether what answers is who it says
// does not matter here, so certificates are not verified, and none is shown.
func (s *Source) health(ctx context.Context) ([]host.Endpoint, *collectors.Gap) {
	n := s.node()
	if !n.InItsNetwork() {
		return nil, collectors.Gapf(collectors.NoPath, "ktriage runs in another network than the node's control plane").With("run it in the host's network")
	}
	ends := endpoints(n)
	out := make([]host.Endpoint, len(ends))
	var wg sync.WaitGroup
	for i, e := range ends {
		wg.Go(func() { out[i] = ask(ctx, e) })
	}
	wg.Wait()
	return out, nil
}

// endpoints are where the node's components tell of their health.
func endpoints(n host.Node) []host.Endpoint {
	var out []host.Endpoint
	there := func(r host.Role) bool {
		_, planned := n.Manifest(r)
		return planned || len(n.Of(r)) > 0
	}
	add := func(r host.Role, scheme, addr, port string, paths ...string) {
		if ip := net.ParseIP(addr); ip == nil || ip.IsUnspecified() {
			addr = "127.0.0.1"
		}
		for _, p := range paths {
			out = append(out, host.Endpoint{Role: r, URL: scheme + "://" + net.JoinHostPort(addr, port) + p})
		}
	}
	if there(host.Etcd) {
		for u := range strings.SplitSeq(n.Flag(host.Etcd, "listen-metrics-urls", ""), ",") {
			if scheme, rest, ok := strings.Cut(u, "://"); ok && scheme == "http" {
				if addr, port, err := net.SplitHostPort(rest); err == nil {
					add(host.Etcd, scheme, addr, port, "/health", "/livez")
					break
				}
			}
		}
	}
	if there(host.APIServer) {
		add(host.APIServer, "https", n.Flag(host.APIServer, "bind-address", ""), n.Flag(host.APIServer, "secure-port", "6443"), "/livez?verbose", "/readyz?verbose")
	}
	if there(host.Controllers) {
		add(host.Controllers, "https", n.Flag(host.Controllers, "bind-address", ""), n.Flag(host.Controllers, "secure-port", "10257"), "/healthz")
	}
	if there(host.Scheduler) {
		add(host.Scheduler, "https", n.Flag(host.Scheduler, "bind-address", ""), n.Flag(host.Scheduler, "secure-port", "10259"), "/healthz")
	}
	if there(host.Kubelet) {
		add(host.Kubelet, "http", "127.0.0.1", n.Flag(host.Kubelet, "healthz-port", "10248"), "/healthz")
	}
	return out
}

func ask(ctx context.Context, e host.Endpoint) host.Endpoint {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	connected := false
	t := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // nothing is sent that is secret, and the answer is only shown
		DisableKeepAlives: true,
		Proxy:             nil,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			connected = err == nil
			return c, err
		},
	}
	defer t.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL, nil)
	if err != nil {
		e.Failed = err.Error()
		return e
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		e.Refused = errors.Is(err, syscall.ECONNREFUSED)
		timeout := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil
		e.Silent = connected && timeout
		switch {
		case e.Refused:
			e.Failed = "connection refused"
		case timeout:
			e.Failed = "no answer within " + healthWithin.String()
		default:
			e.Failed = err.Error()
		}
		return e
	}
	defer resp.Body.Close()
	e.Status = resp.StatusCode
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	e.Body = strings.ToValidUTF8(string(b), "?")
	return e
}
