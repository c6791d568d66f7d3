package live

import (
	"net/http"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ktriage/ktriage/collectors"
)

func TestOneAPIServerPastTheLoadBalancer(t *testing.T) {
	ca, other := newAuthority(t, "cluster"), newAuthority(t, "another")
	for _, tt := range []struct {
		name   string
		by     *authority
		names  []string
		change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		words  string // of the gap; empty if it answers
		tokens int64
	}{
		{"its certificate has its address", ca, []string{"127.0.0.1"}, nil, "", 1},
		{"its certificate has the load balancer's name only", ca, []string{"api.example.com"}, nil, "", 1},
		{"its certificate has the name of the service only", ca, []string{inCluster}, nil, "", 1},
		{"its certificate has the kubeconfig's tls-server-name only", ca, []string{"front"}, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.TLSServerName = "front" }, "", 1},
		{"its certificate is someone else's", ca, []string{"kubelet-1"}, nil, "but for kubelet-1", 0},
		{"its certificate is a kubelet's", nil, nil, nil, "certificate is a kubelet's", 0},
		{"its certificate is not the cluster's", other, []string{"127.0.0.1", "api.example.com"}, nil, "not signed by the CA", 0},
		{"the kubeconfig has no CA", ca, []string{"127.0.0.1"}, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = nil }, "not signed by the CA", 0},
		{"the kubeconfig does not verify", other, []string{"x"}, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.CertificateAuthorityData, c.InsecureSkipTLSVerify = nil, true
		}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cert := ca.issueAs(t, kubeletOf, "127.0.0.1", "worker-1")
			if tt.by != nil {
				cert = tt.by.issue(t, tt.names...)
			}
			srv := newServer(t, cert.pair(t), func(http.ResponseWriter, *http.Request) {})
			change := tt.change
			if change == nil {
				change = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}
			}
			s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://api.example.com:6443", ca, change)})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "apiserver://" + srv.addr() + "/metrics"})
			if tt.words == "" && gap != nil {
				t.Error(gap)
			}
			if tt.words != "" {
				wantGap(t, gap, collectors.Unreachable, tt.words)
				if n := srv.requests.Load(); n != 0 {
					t.Errorf("got %d requests, want none", n)
				}
			}
			if n := srv.tokens.Load(); n != tt.tokens {
				t.Errorf("got %d requests with a token, want %d", n, tt.tokens)
			}
		})
	}
}

func TestAPIServersShareNoConnection(t *testing.T) {
	ca := newAuthority(t, "cluster")
	cert := ca.issue(t, "127.0.0.1", "api.example.com").pair(t)
	a := newServer(t, cert, func(http.ResponseWriter, *http.Request) {})
	b := newServer(t, cert, func(http.ResponseWriter, *http.Request) {})
	s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://api.example.com:6443", ca)})
	for _, srv := range []*server{a, b, a, b} {
		if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "apiserver://" + srv.addr() + "/metrics"}); gap != nil {
			t.Fatal(gap)
		}
	}
	if a.requests.Load() != 2 || b.requests.Load() != 2 {
		t.Errorf("got %d and %d requests, want 2 each", a.requests.Load(), b.requests.Load())
	}
}

func TestUnverifiedAPIServerThatRefusesNamesTheCA(t *testing.T) {
	srv := newServer(t, newAuthority(t, "another").issue(t, "x").pair(t), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://api.example.com", nil, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.InsecureSkipTLSVerify = true })})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "apiserver://" + srv.addr() + "/metrics"})
	wantGap(t, gap, collectors.Unauthorized, "put the cluster's CA into the kubeconfig")
}
