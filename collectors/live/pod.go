package live

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A podPort is a port of a pod, as a pod+http or pod+https URL names it.
type podPort struct {
	tls                   bool
	node                  string // empty if it is not known or of no use
	namespace, name, port string
	path                  string // escaped, with query
}

// parsePod reads pod+https://NODE@namespace/pod:port/path?query.
func parsePod(u *url.URL) (podPort, error) {
	p := podPort{tls: u.Scheme == "pod+https", node: u.User.Username(), namespace: u.Host}
	pod, path, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	name, port, ok := strings.Cut(pod, ":")
	if p.namespace == "" || name == "" || !ok || port == "" {
		return p, fmt.Errorf("%s is not pod+http://namespace/pod:port/path", u.Redacted())
	}
	p.name, p.port, p.path = name, port, "/"+path
	if u.RawQuery != "" {
		p.path += "?" + u.RawQuery
	}
	return p, nil
}

// pod is the pod's full name.
func (p podPort) pod() string { return p.namespace + "/" + p.name }

// url returns the URL to ask at host.
func (p podPort) url(host string) string {
	scheme := "http"
	if p.tls {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, p.port) + p.path
}

// askPod answers pod+http and pod+https.
func (s *Source) askPod(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	return s.throughPod(ctx, a, u, func(a attempt, p podPort, k *kube, who, addr string, dial dialFunc) (*collectors.Reply, *collectors.Gap) {
		server := "pod " + p.pod() + ":" + p.port
		if addr != "" {
			server = "direct " + addr
		}
		return s.askPort(ctx, a, who, server, p, k, dial)
	})
}

// throughPod lets ask talk to a pod's port: directly, at addr, if the pod is on
// this node; else, or if that finds no connection, by port-forward, for which
// addr is empty. Without a Kubernetes API, asking directly, k is nil.
func (s *Source) throughPod(ctx context.Context, a attempt, u *url.URL,
	ask func(a attempt, p podPort, k *kube, who, addr string, dial dialFunc) (*collectors.Reply, *collectors.Gap),
) (*collectors.Reply, *collectors.Gap) {
	p, err := parsePod(u)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%v", err)
	}
	k, noKube := s.kube()
	var direct *collectors.Gap
	if p.node != "" && p.node == s.config.NodeName {
		addr := net.JoinHostPort("127.0.0.1", p.port)
		reply, gap := ask(a, p, k, a.way+" at "+addr, addr, s.dial)
		if gap == nil || gap.Reason != collectors.Unreachable {
			return reply, gap
		}
		direct = gap
	}
	if noKube != nil {
		noKube = &collectors.Gap{Reason: noKube.Reason, Detail: a.way + ": " + noKube.Detail, Remedy: noKube.Remedy}
		return nil, joinGaps(direct, noKube)
	}
	who := a.way + " by port-forward"
	if f, dead := s.breaker.refuses(k.breakerKey(), itStore); dead {
		f.reason = collectors.NoPath
		return nil, joinGaps(direct, f.gap(fmt.Sprintf("%s: the API server at %s", who, k.addr)))
	}
	a.connect = a.within // it shares the tunnel with others, and what they get
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
	reply, gap := ask(a, p, k, who, "", dial)
	if gap != nil {
		if gap.Reason == collectors.Unreachable && !strings.Contains(gap.Detail, kubeletReports) {
			// Only the kubelet can tell that nobody listens at the pod's port.
			// That the tunnel was not made in time, or broke, is about the tunnel.
			gap.Reason = collectors.NoPath
		}
		return nil, joinGaps(direct, gap)
	}
	return reply, nil
}

// whyNoPath tells that it was the way to the pod that failed, by API server and
// kubelet: what that says of the pod is nothing. What they refused they refused.
func (s *Source) whyNoPath(ctx context.Context, err error, within time.Duration) failure {
	f := explain(ctx, err, stageConnect, within)
	switch f.reason {
	case collectors.Unreachable, collectors.Timeout, collectors.ServerError:
		f.reason = collectors.NoPath
	}
	return f
}

// dialFunc opens a connection.
type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// askPort sends the request over connections that dial opens.
func (s *Source) askPort(ctx context.Context, a attempt, who, addr string, p podPort, k *kube, dial dialFunc) (*collectors.Reply, *collectors.Gap) {
	rt, err := s.transports.get(fmt.Sprintf("%s tls=%t", addr, p.tls), func() (http.RoundTripper, error) { return s.newPortTransport(p, k, dial) })
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", who, err)
	}
	req, err := newRequest(p.url("127.0.0.1"), acceptFor(a.Request))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", who, err)
	}
	req.Header.Set("User-Agent", "ktriage/"+s.config.Version)
	got, gap := s.exchange(ctx, who, addr, rt, req, a)
	if gap != nil {
		return nil, gap
	}
	reply, gap := judge(who, a.Verb, got)
	if gap != nil {
		return nil, s.refusedByPod(gap, p, req.URL.Path, rt.(*portTransport))
	}
	reply.From = a.way
	return reply, nil
}

// refusedByPod adds to the gap what would make the component answer.
func (s *Source) refusedByPod(gap *collectors.Gap, p podPort, path string, rt *portTransport) *collectors.Gap {
	if gap.Reason != collectors.Unauthorized && gap.Reason != collectors.Forbidden {
		return gap
	}
	switch {
	case !p.tls:
	case rt.showed.Load() || rt.sendsToken():
		if gap.Reason == collectors.Forbidden {
			gap.Remedy = grant(collectors.Get, path)
		}
	default:
		gap.Reason = collectors.Unauthorized
		gap.Detail += " (asked without credentials: nobody vouches for its certificate, so no token was sent)"
		gap.Remedy = "use a kubeconfig with a client certificate, as /etc/kubernetes/admin.conf of kubeadm has, or send the token all the same: --forward-token"
	}
	return gap
}
