package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ktriage/ktriage/collectors"
	certs "github.com/ktriage/ktriage/collectors/certificates"
)

// greeted is the certificates that a reply to a Greet holds.
func greeted(t *testing.T, body string) []*x509.Certificate {
	t.Helper()
	got, err := certs.Read([]byte(body))
	if err != nil || len(got) == 0 {
		t.Fatalf("the reply holds %d certificates: %v", len(got), err)
	}
	if strings.Contains(body, "PRIVATE KEY") || strings.Count(body, "-----BEGIN") != len(got) {
		t.Errorf("the reply holds more than certificates:\n%s", body)
	}
	return got
}

func TestGreetShowsTheWholeChainWhoeverVouchesForIt(t *testing.T) {
	ca := newAuthority(t, "nobody knows it")
	expired := ca.issueUntil(t, time.Now().Add(-time.Hour), "other.example.com")
	pair := expired.pair(t)
	pair.Certificate = append(pair.Certificate, ca.cert.Raw)
	srv := newServer(t, pair, func(http.ResponseWriter, *http.Request) {})
	s := newSource(t, Config{})
	reply, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "tls://" + srv.addr()})
	if gap != nil {
		t.Fatal(gap)
	}
	if got := greeted(t, body); len(got) != 2 || got[1].Subject.CommonName != "nobody knows it" || got[0].NotAfter.After(time.Now()) {
		t.Errorf("got %d certificates, the first until %s", len(got), got[0].NotAfter)
	}
	if reply.Cert == nil || reply.Cert.DNSNames[0] != "other.example.com" {
		t.Errorf("the certificate that was shown is told as %+v", reply.Cert)
	}
	if n := srv.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestGreetAsksForTheServersName(t *testing.T) {
	ca := newAuthority(t, "ca")
	names := make(chan string, 3)
	pair := ca.issue(t, "a.example.com").pair(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		names <- h.ServerName
		return &pair, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	serveTLS(t, l)
	s := newSource(t, Config{})
	for query, want := range map[string]string{"/?name=guard.shop.svc": "guard.shop.svc", "/": ""} {
		if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "tls://" + l.Addr().String() + query}); gap != nil {
			t.Fatal(gap)
		}
		if got := <-names; got != want { // an address is no name to ask for
			t.Errorf("%s: asked for %q, want %q", query, got, want)
		}
	}
}

// serveTLS agrees on TLS with whoever comes.
func serveTLS(t *testing.T, l net.Listener) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.(*tls.Conn).Handshake()
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
}

func TestGreetShowsNoCredentialButEtcdsToEtcd(t *testing.T) {
	ca := newAuthority(t, "ca")
	mine := ca.issue(t)
	var shown atomic.Int64
	pair := ca.issue(t, "127.0.0.1").pair(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MaxVersion: tls.VersionTLS12, // in which the server has it before the client is done
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) > 0 {
				shown.Add(1)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	serveTLS(t, l)
	dir := t.TempDir()
	write(t, dir, map[string][]byte{"ca.crt": ca.pem, "c.crt": mine.cert, "c.key": mine.key})
	addr := l.Addr().String()
	s := newSource(t, Config{
		Kubeconfig: kubeconfigFor("https://"+addr, ca, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.ClientCertificateData, u.ClientKeyData = mine.cert, mine.key
		}),
		Etcd: EtcdFlags{Endpoints: []string{"https://" + addr}, CACert: dir + "/ca.crt", Cert: dir + "/c.crt", Key: dir + "/c.key"},
	})
	for _, tt := range []struct {
		url  string
		want int64
	}{{"tls://" + addr, 0}, {"kube:/", 0}, {"apiserver://" + addr + "/", 0}, {"etcd://" + addr + "/", 1}} {
		shown.Store(0)
		_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: tt.url})
		if gap != nil {
			t.Fatalf("%s: %v", tt.url, gap)
		}
		greeted(t, body)
		if got := shown.Load(); got != tt.want {
			t.Errorf("%s: our certificate was shown %d times, want %d", tt.url, got, tt.want)
		}
	}
}

func TestGreetCountsWhatWasShownByWhoTurnsUsAway(t *testing.T) {
	ca := newAuthority(t, "ca")
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, "127.0.0.1").pair(t)}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	serveTLS(t, l)
	_, body, gap := fetch(t, newSource(t, Config{}), collectors.Request{Verb: collectors.Greet, URL: "tls://" + l.Addr().String()})
	if gap != nil {
		t.Fatal(gap)
	}
	greeted(t, body)
}

func TestGreetOfWhatAnswersNoTLSIsAGap(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ErrorLog: quietLog()}
	go func() { _ = srv.Serve(plain) }()
	t.Cleanup(func() { srv.Close() })
	for _, tt := range []struct {
		name, addr string
		reason     collectors.Reason
		words      string
	}{
		{"nothing listens", deadAddr(t), collectors.Unreachable, "connection refused"},
		{"HTTP", plain.Addr().String(), collectors.Unreachable, "does not speak TLS"},
		{"it says nothing", muteAddr(t), collectors.Timeout, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, Config{RequestTimeout: time.Second})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "tls://" + tt.addr})
			wantGap(t, gap, tt.reason, tt.words)
		})
	}
}

func TestGreetEndsWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, _, gap := fetchCtx(t, ctx, newSource(t, Config{}), collectors.Request{Verb: collectors.Greet, URL: "tls://" + muteAddr(t)})
	wantGap(t, gap, collectors.Canceled)
}

func TestGreetOfEtcd(t *testing.T) {
	t.Run("without credentials", func(t *testing.T) {
		s := newSource(t, Config{HostRoot: t.TempDir()})
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "etcd://" + deadAddr(t) + "/"})
		wantGap(t, gap, collectors.Forbidden, "no client certificate for etcd", "--etcd-cert")
	})
	t.Run("that is spoken to without TLS", func(t *testing.T) {
		addr := deadAddr(t)
		s := newSource(t, Config{Etcd: EtcdFlags{Endpoints: []string{"http://" + addr}}})
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "etcd://" + addr + "/"})
		wantGap(t, gap, collectors.OutOfScope, "without TLS")
	})
}

func TestGreetOfAPod(t *testing.T) {
	ca := newAuthority(t, "pods")
	srv := newServer(t, ca.issue(t, "guard.shop.svc").pair(t), func(http.ResponseWriter, *http.Request) {})
	pod := "pod+https://cp-1@kube-system/p:" + srv.port() + "/?name=guard.shop.svc"
	for _, tt := range []struct {
		name, node string
		upgrades   int64
	}{{"on this node", "cp-1", 0}, {"by port-forward", "", 1}} {
		t.Run(tt.name, func(t *testing.T) {
			f := &forwarder{}
			s := forwardSource(t, f, Config{NodeName: tt.node}, nil)
			_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: pod})
			if gap != nil {
				t.Fatal(gap)
			}
			if got := greeted(t, body); got[0].DNSNames[0] != "guard.shop.svc" {
				t.Errorf("got a certificate for %v", got[0].DNSNames)
			}
			if got := f.upgrades.Load(); got != tt.upgrades {
				t.Errorf("got %d port-forwards, want %d", got, tt.upgrades)
			}
		})
	}
	t.Run("port-forward is refused", func(t *testing.T) {
		s := forwardSource(t, &forwarder{refuse: 403}, Config{}, nil)
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: pod})
		wantGap(t, gap, collectors.Forbidden, "pods/portforward")
	})
	t.Run("nothing listens in it", func(t *testing.T) {
		_, port, _ := net.SplitHostPort(deadAddr(t))
		s := forwardSource(t, &forwarder{}, Config{}, nil)
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Greet, URL: "pod+https://cp-1@kube-system/p:" + port + "/"})
		wantGap(t, gap, collectors.Unreachable, "by port-forward")
	})
	if srv.requests.Load() != 0 {
		t.Error("a request was sent")
	}
}

// FuzzGreet holds that whatever answers a Greet in place of TLS, the outcome is
// certificates or a gap.
func FuzzGreet(f *testing.F) {
	f.Add([]byte("HTTP/1.0 400 Bad Request\r\n\r\n"))
	f.Add([]byte{0x15, 3, 3, 0, 2, 2, 40})                            // an alert
	f.Add([]byte{0x16, 3, 3, 0, 4, 2, 0, 0, 0, 0x16, 3, 3, 0, 1, 11}) // a hello without content
	s, err := New(Config{Getenv: noEnv, RequestTimeout: 2 * time.Second, QPS: 1e6, Burst: 1e6})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			_, _ = theirs.Write(b)
		}()
		a := attempt{Request: collectors.Request{Verb: collectors.Greet, URL: "tls://fuzz"}, way: "tls://fuzz", within: 2 * time.Second}
		dial := func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		// A server that failed is not asked again: each is another.
		reply, gap := s.handshakeOnly(t.Context(), a, "fuzz", "tls "+t.Name()+string(b), "fuzz:1", &tls.Config{ServerName: "fuzz"}, dial)
		if (reply == nil) == (gap == nil) {
			t.Fatalf("got %v and %v", reply, gap)
		}
	})
}
