package live

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/ktriage/ktriage/collectors"
)

func TestParsePod(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want podPort
		ok   bool
	}{
		{"pod+https://kube-system/kube-scheduler-a:10259/metrics", podPort{true, "", "kube-system", "kube-scheduler-a", "10259", "/metrics"}, true},
		{"pod+http://cp-1@kube-system/etcd-a:2381/health?serializable=true", podPort{false, "cp-1", "kube-system", "etcd-a", "2381", "/health?serializable=true"}, true},
		{"pod+https://ns/p.with.dots:10259", podPort{true, "", "ns", "p.with.dots", "10259", "/"}, true},
		{"pod+https://ns/pod/metrics", podPort{}, false},
		{"pod+https://ns", podPort{}, false},
		{"pod+https:///pod:1/", podPort{}, false},
	} {
		u, err := url.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsePod(u)
		if (err == nil) != tt.ok || tt.ok && got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
	}
}

// component plays a scheduler: a certificate of its own, metrics for those
// that it knows.
func component(t *testing.T) *server {
	t.Helper()
	return newServer(t, newAuthority(t, "self").issue(t, "localhost").pair(t), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" && len(r.TLS.PeerCertificates) == 0 && r.Header.Get("Authorization") == "" {
			w.WriteHeader(403)
			io.WriteString(w, `forbidden: User "system:anonymous" cannot get path "/metrics"`)
			return
		}
		io.WriteString(w, "ok")
	})
}

func TestPodOnThisNodeIsAskedDirectly(t *testing.T) {
	ca := newAuthority(t, "cluster")
	cert := ca.issue(t)
	withCert := func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.ClientCertificateData, u.ClientKeyData = cert.cert, cert.key
	}
	withToken := func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}
	withPassword := func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.Token, u.Username, u.Password = "", "admin", "pw"
	}
	for _, tt := range []struct {
		name     string
		change   func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		none     bool // no kubeconfig
		forward  bool
		path     string
		words    string // of the gap
		token    int64
		certShow int64
	}{
		{name: "a client certificate is shown, a token is not sent", change: withCert, path: "/metrics", certShow: 1},
		{name: "a token is not sent", change: withToken, path: "/metrics", words: "--forward-token"},
		{name: "nor is a password", change: withPassword, path: "/metrics", words: "--forward-token"},
		{name: "nor is a password, whatever is said", change: withPassword, forward: true, path: "/metrics", words: "cannot get path"},
		{name: "health needs no credentials", change: withToken, path: "/healthz"},
		{name: "health needs no kubeconfig", none: true, path: "/healthz"},
		{name: "metrics do", none: true, path: "/metrics", words: "client certificate"},
		{name: "a token is sent if the user says so", change: withToken, forward: true, path: "/metrics", token: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := component(t)
			c := Config{NodeName: "cp-1", ForwardToken: tt.forward}
			if !tt.none {
				c.Kubeconfig = kubeconfigFor("https://"+deadAddr(t), ca, tt.change)
			}
			s := newSource(t, c)
			way := "pod+https://cp-1@kube-system/kube-scheduler-cp-1:" + srv.port() + tt.path
			reply, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: way})
			if tt.words != "" {
				reason := collectors.Unauthorized
				if tt.forward {
					reason = collectors.Forbidden
				}
				wantGap(t, gap, reason, "HTTP 403", tt.words)
			} else if gap != nil {
				t.Error(gap)
			} else if reply.From != way {
				t.Errorf("got an answer from %s, want %s", reply.From, way)
			}
			if got := srv.tokens.Load(); got != tt.token {
				t.Errorf("got %d requests with a token, want %d", got, tt.token)
			}
			if got := srv.clients.Load(); got != tt.certShow {
				t.Errorf("got %d requests with a client certificate, want %d", got, tt.certShow)
			}
		})
	}
}

// forwarder plays an API server whose pods' ports are those of this machine,
// by SPDY alone as before Kubernetes 1.30.
type forwarder struct {
	upgrades atomic.Int64
	refuse   int           // status of a refusal, if any
	mute     chan struct{} // streams are not accepted until it is closed, if it is not nil
}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.refuse != 0 {
		w.WriteHeader(f.refuse)
		io.WriteString(w, statusJSON(f.refuse, "no port-forward"))
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(400)
		return
	}
	f.upgrades.Add(1)
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 10)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		if f.mute != nil {
			<-f.mute
		}
		streams <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	waiting := map[string]httpstream.Stream{} // error streams by request
	for {
		select {
		case <-conn.CloseChan():
			return
		case s := <-streams:
			id := s.Headers().Get(corev1.PortForwardRequestIDHeader)
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
				waiting[id] = s
				continue
			}
			go pipe(s, waiting[id])
		}
	}
}

func pipe(data, errs httpstream.Stream) {
	defer errs.Close()
	defer data.Close()
	c, err := net.Dial("tcp", "127.0.0.1:"+data.Headers().Get(corev1.PortHeader))
	if err != nil {
		io.WriteString(errs, "error forwarding port: "+err.Error())
		return
	}
	defer c.Close()
	go func() {
		io.Copy(c, data)
		c.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(data, c)
}

func forwardSource(t *testing.T, f *forwarder, c Config, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) *Source {
	t.Helper()
	ca := newAuthority(t, "cluster")
	srv := newServer(t, ca.issue(t, "127.0.0.1").pair(t), f.ServeHTTP)
	if change == nil {
		change = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}
	}
	c.Kubeconfig = kubeconfigFor(srv.URL, ca, change)
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 10 * time.Second
	}
	return newSource(t, c)
}

func TestPodByPortForward(t *testing.T) {
	cert := newAuthority(t, "clients").issue(t)
	f := &forwarder{}
	s := forwardSource(t, f, Config{NodeName: "cp-1"}, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.ClientCertificateData, u.ClientKeyData = cert.cert, cert.key
	})
	srv := component(t)
	big := newServer(t, newAuthority(t, "self").issue(t).pair(t), func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 5<<20))
	})
	var wg sync.WaitGroup
	for range 10 {
		for port, want := range map[string]int{srv.port(): 2, big.port(): 5 << 20} {
			wg.Go(func() {
				_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+https://cp-2@kube-system/kube-scheduler-cp-2:" + port + "/metrics"})
				if gap != nil || len(body) != want {
					t.Errorf("got %d bytes, %v, want %d", len(body), gap, want)
				}
			})
		}
	}
	wg.Wait()
	if got := f.upgrades.Load(); got != 1 {
		t.Errorf("got %d port-forward connections, want one for the pod", got)
	}
	if srv.tokens.Load() != 0 || srv.clients.Load() != 10 {
		t.Errorf("got %d requests with a token and %d with a client certificate, want 0 and 10", srv.tokens.Load(), srv.clients.Load())
	}
	if got := s.Cost().Bytes; got < 50<<20 {
		t.Errorf("got a cost of %d bytes, want all that came through the tunnel", got)
	}
}

func TestPodThatIsNotOnThisNodeAfterAll(t *testing.T) {
	// The direct dial finds nothing, and port-forward finds the reason.
	_, port, _ := net.SplitHostPort(deadAddr(t))
	s := forwardSource(t, &forwarder{}, Config{NodeName: "cp-1"}, nil)
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+http://cp-1@ns/p:" + port + "/metrics"})
	wantGap(t, gap, collectors.Unreachable, "at 127.0.0.1:"+port+": connection refused", "by port-forward: the kubelet reports: error forwarding port")
}

func TestPortForwardThatIsRefused(t *testing.T) {
	for _, tt := range []struct {
		code   int
		reason collectors.Reason
		words  string
	}{
		{401, collectors.Unauthorized, "expired"},
		{403, collectors.Forbidden, "--verb=get,create --resource=pods/portforward"},
		{404, collectors.Absent, "no port-forward"},
		{500, collectors.NoPath, "HTTP 500"},
	} {
		s := forwardSource(t, &forwarder{refuse: tt.code}, Config{}, nil)
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+http://kube-system/p:80/metrics"})
		wantGap(t, gap, tt.reason, tt.words, "no port-forward")
	}
}

func TestPortForwardHeedsTimeoutAndStop(t *testing.T) {
	mute := make(chan struct{})
	defer close(mute)
	s := forwardSource(t, &forwarder{mute: mute}, Config{RequestTimeout: 300 * time.Millisecond}, nil)
	r := collectors.Request{Verb: collectors.Scrape, URL: "pod+http://ns/p:80/metrics"}
	_, _, gap := fetch(t, s, r)
	wantGap(t, gap, collectors.NoPath, "no connection within 300ms")

	s = forwardSource(t, &forwarder{mute: mute}, Config{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, _, gap = fetchCtx(t, ctx, s, r)
	wantGap(t, gap, collectors.Canceled)
}

func TestPortForwardThroughADeadAPIServer(t *testing.T) {
	s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://"+deadAddr(t), newAuthority(t, "cluster"))})
	for _, pod := range []string{"a", "b", "c", "d"} {
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+http://ns/" + pod + ":80/metrics"})
		wantGap(t, gap, collectors.NoPath, "connection refused")
		if pod == "d" {
			wantGap(t, gap, collectors.NoPath, "not tried again")
		}
	}
}

func TestTokenIsNotSentForPortForwardToAStranger(t *testing.T) {
	stranger := newServer(t, newAuthority(t, "another").issue(t, "127.0.0.1").pair(t), func(http.ResponseWriter, *http.Request) {})
	s := newSource(t, Config{Kubeconfig: kubeconfigFor(stranger.URL, newAuthority(t, "cluster")), ForwardToken: true})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+https://ns/p:80/metrics"})
	wantGap(t, gap, collectors.NoPath, "not signed by the CA")
	if n := stranger.requests.Load(); n != 0 {
		t.Errorf("the stranger got %d requests", n)
	}
}
