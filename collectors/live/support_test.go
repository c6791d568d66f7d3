package live

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/testport"
)

const token = "secret-token"

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// A leaf is a certificate with its key.
type leaf struct{ cert, key []byte }

// issue signs a certificate for servers and clients. Names that are IP
// addresses become such.
func (a *authority) issue(t *testing.T, names ...string) leaf {
	t.Helper()
	return a.issueUntil(t, time.Now().Add(time.Hour), names...)
}

func (a *authority) issueUntil(t *testing.T, until time.Time, names ...string) leaf {
	t.Helper()
	return a.issueAs(t, func(c *x509.Certificate) { c.NotAfter = until }, names...)
}

func (a *authority) issueAs(t *testing.T, change func(*x509.Certificate), names ...string) leaf {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "leaf"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, n)
		}
	}
	change(tmpl)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	k, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return leaf{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: k}),
	}
}

func (l leaf) pair(t *testing.T) tls.Certificate {
	t.Helper()
	p, err := tls.X509KeyPair(l.cert, l.key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// write puts the files of a keyring into a folder.
func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A server is an HTTPS server that remembers what it was asked.
type server struct {
	*httptest.Server
	requests atomic.Int64
	tokens   atomic.Int64 // requests with any Authorization
	clients  atomic.Int64 // requests with a client certificate
}

func newServer(t *testing.T, cert tls.Certificate, h http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if r.Header.Get("Authorization") != "" {
			s.tokens.Add(1)
		}
		if len(r.TLS.PeerCertificates) > 0 {
			s.clients.Add(1)
		}
		h(w, r)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = quietLog()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *server) addr() string { return s.Listener.Addr().String() }

func (s *server) port() string {
	_, p, _ := strings.Cut(s.addr(), ":")
	return p
}

// kubeconfig is a kubeconfig in memory.
type kubeconfig struct{ clientcmd.ClientConfig }

func (k kubeconfig) ToRESTConfig() (*rest.Config, error)           { return k.ClientConfig.ClientConfig() }
func (k kubeconfig) ToRawKubeConfigLoader() clientcmd.ClientConfig { return k.ClientConfig }

// kubeconfigFor has a token, unless change takes it away.
func kubeconfigFor(url string, ca *authority, change ...func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) kubeconfig {
	c, u := clientcmdapi.NewCluster(), clientcmdapi.NewAuthInfo()
	c.Server, u.Token = url, token
	if ca != nil {
		c.CertificateAuthorityData = ca.pem
	}
	for _, f := range change {
		f(c, u)
	}
	raw := clientcmdapi.NewConfig()
	raw.Clusters["prod"], raw.AuthInfos["me"] = c, u
	x := clientcmdapi.NewContext()
	x.Cluster, x.AuthInfo, x.Namespace = "prod", "me", "shop"
	raw.Contexts["work"], raw.CurrentContext = x, "work"
	return kubeconfig{clientcmd.NewNonInteractiveClientConfig(*raw, "work", &clientcmd.ConfigOverrides{}, clientcmd.NewDefaultClientConfigLoadingRules())}
}

func noEnv(string) string { return "" }

func newSource(t *testing.T, c Config) *Source {
	t.Helper()
	if c.Getenv == nil {
		c.Getenv = noEnv
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fetch returns the reply with its body, or the gap.
func fetch(t *testing.T, s *Source, r collectors.Request) (*collectors.Reply, string, *collectors.Gap) {
	t.Helper()
	return fetchCtx(t, t.Context(), s, r)
}

func fetchCtx(t *testing.T, ctx context.Context, s *Source, r collectors.Request) (*collectors.Reply, string, *collectors.Gap) {
	t.Helper()
	reply, err := s.Fetch(ctx, r)
	if err != nil {
		return nil, "", asGap(t, err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, "", asGap(t, err)
	}
	return reply, string(b), nil
}

func asGap(t *testing.T, err error) *collectors.Gap {
	t.Helper()
	g := collectors.AsGap(err, "not a gap")
	if g.Reason == "not a gap" {
		t.Fatalf("the error is no gap: %v", err)
	}
	return g
}

func wantGap(t *testing.T, g *collectors.Gap, reason collectors.Reason, words ...string) {
	t.Helper()
	if g == nil {
		t.Fatalf("got an answer, want a gap: %s", reason)
	}
	if g.Reason != reason {
		t.Errorf("got %s: %s\nwant reason %q", g.Reason, g.Detail, reason)
	}
	for _, w := range words {
		if !strings.Contains(g.Detail+"\n"+g.Remedy+"\n"+g.Note, w) {
			t.Errorf("got detail %q, remedy %q\nwant it to say %q", g.Detail, g.Remedy, w)
		}
	}
	if strings.Contains(g.Detail+g.Remedy, token) {
		t.Errorf("the gap shows the token: %q", g)
	}
}

// deadAddr is an address of this machine where nothing listens.
func deadAddr(t *testing.T) string {
	t.Helper()
	addr, err := testport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// muteAddr is one where connections are accepted and nothing is ever said.
func muteAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().String()
}
