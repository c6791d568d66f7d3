package live

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ktriage/ktriage/collectors"
)

// kubeletOf makes a certificate a kubelet's.
func kubeletOf(c *x509.Certificate) {
	c.Subject.CommonName, c.Subject.Organization = kubeletName+"worker-1", []string{kubeletGroup}
}

func TestTokenGoesToWhomTheCAVouchesForAndToNobodyElse(t *testing.T) {
	ca, other := newAuthority(t, "cluster"), newAuthority(t, "another")
	insecure := func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
		c.CertificateAuthorityData, c.InsecureSkipTLSVerify = nil, true
	}
	for _, tt := range []struct {
		name   string
		cert   leaf
		change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		sent   bool
	}{
		{name: "an API server", cert: ca.issue(t, inCluster), sent: true},
		{name: "one by the kubeconfig's name", cert: ca.issue(t, "api.example.com"), sent: true,
			change: func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.TLSServerName = "api.example.com" }},
		{name: "a scheduler with a certificate of the CA", cert: ca.issue(t, "kube-scheduler.kube-system.svc", "localhost"), sent: true},
		{name: "a controller manager with one", cert: ca.issue(t, "kube-controller-manager.kube-system.svc"), sent: true},
		{name: "a component with a certificate of its own", cert: newAuthority(t, "self").issue(t, "localhost", "kube-scheduler.kube-system.svc")},
		{name: "another cluster's API server", cert: other.issue(t, inCluster, "127.0.0.1")},
		{name: "something of this cluster", cert: ca.issue(t, "metrics.example.com")},
		{name: "a kubelet", cert: ca.issueAs(t, kubeletOf, "worker-1")},
		{name: "a kubelet whose node is named like an API server", cert: ca.issueAs(t, kubeletOf, inCluster, "kube-scheduler.kube-system.svc")},
		{name: "a client", cert: ca.issueAs(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, inCluster)},
		{name: "a certificate that expired", cert: ca.issueUntil(t, time.Now().Add(-time.Minute), inCluster)},
		{name: "an API server under a kubeconfig that does not verify", cert: ca.issue(t, inCluster), change: insecure},
		{name: "an API server under a kubeconfig without a CA", cert: ca.issue(t, inCluster),
			change: func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tokens, requests, connections atomic.Int64
			var mu sync.Mutex
			var errors bytes.Buffer
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if r.Header.Get("Authorization") != "" {
					tokens.Add(1)
				} else if r.URL.Path == "/metrics" {
					w.WriteHeader(403)
				}
			}))
			srv.TLS = &tls.Config{Certificates: []tls.Certificate{tt.cert.pair(t)}, ClientAuth: tls.RequestClientCert}
			srv.Config.ErrorLog = log.New(lockedWriter{&mu, &errors}, "", 0)
			srv.Config.ConnState = func(_ net.Conn, st http.ConnState) {
				if st == http.StateNew {
					connections.Add(1)
				}
			}
			srv.StartTLS()
			defer srv.Close()
			_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
			change := tt.change
			if change == nil {
				change = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}
			}
			// Directly: the forwarded way differs in what dials only, and has
			// its own test.
			s := newSource(t, Config{NodeName: "cp-1", Kubeconfig: kubeconfigFor("https://"+deadAddr(t), ca, change)})
			for i, path := range []string{"/metrics", "/healthz", "/metrics"} {
				_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "pod+https://cp-1@kube-system/kube-scheduler-cp-1:" + port + path})
				switch {
				case tt.sent && gap != nil, path == "/healthz" && gap != nil:
					t.Errorf("request %d: %v", i, gap)
				case !tt.sent && path == "/metrics":
					wantGap(t, gap, collectors.Unauthorized, "no token was sent", "--forward-token")
				}
			}
			want := int64(0)
			if tt.sent {
				want = 3
			}
			if tokens.Load() != want || requests.Load() != 3 {
				t.Errorf("got %d requests, %d of them with a token, want 3 and %d", requests.Load(), tokens.Load(), want)
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("got %d connections, want one for all requests", n)
			}
			mu.Lock()
			defer mu.Unlock()
			if errors.Len() > 0 {
				t.Errorf("the component has something to complain about: %s", errors.String())
			}
		})
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestTokenGoesThroughPortForwardToAnAPIServer(t *testing.T) {
	ca := newAuthority(t, "cluster")
	front := newServer(t, ca.issue(t, "127.0.0.1").pair(t), (&forwarder{}).ServeHTTP)
	pod := newServer(t, ca.issue(t, inCluster).pair(t), func(http.ResponseWriter, *http.Request) {})
	s := newSource(t, Config{Kubeconfig: kubeconfigFor(front.URL, ca), RequestTimeout: 10 * time.Second})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "pod+https://kube-system/kube-apiserver-cp-1:" + pod.port() + "/metrics"})
	if gap != nil || pod.tokens.Load() != 1 {
		t.Errorf("got %v and %d requests with a token, want one", gap, pod.tokens.Load())
	}
}

func TestStrangersConnectionsAreClosed(t *testing.T) {
	srv := component(t)
	s := newSource(t, Config{NodeName: "cp-1", Kubeconfig: kubeconfigFor("https://"+deadAddr(t), newAuthority(t, "cluster"))})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "pod+https://cp-1@ns/p:" + srv.port() + "/healthz"}); gap != nil {
				t.Error(gap)
			}
		})
	}
	wg.Wait()
	if n := srv.tokens.Load(); n != 0 {
		t.Errorf("got %d requests with a token, want none", n)
	}
	s.Close()
	for _, rt := range s.transports.m {
		if p, ok := rt.(*portTransport); ok && p.reuse() != nil {
			t.Error("a connection is left")
		}
	}
}
