package certificates

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// at is when the tests' certificates are valid, for an hour before and after.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (p pair) pem() []byte { return Write([]*x509.Certificate{p.cert}) }

func (p pair) keyPEM(t testing.TB) []byte {
	t.Helper()
	b, err := x509.MarshalECPrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b})
}

// issue signs a certificate, by itself if there is no issuer.
func issue(t testing.TB, by *pair, cn string, names ...string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(255), Subject: pkix.Name{CommonName: cn}, NotBefore: at.Add(-time.Hour), NotAfter: at.Add(time.Hour),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := tmpl, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return pair{c, key}
}

func TestReadPassesKeysOverAndKeepsNone(t *testing.T) {
	ca := issue(t, nil, "ca")
	leaf := issue(t, &ca, "leaf", "guard.shop.svc")
	in := bytes.Join([][]byte{leaf.keyPEM(t), leaf.pem(), []byte("junk\n"), ca.pem(), ca.keyPEM(t)}, nil)
	got, err := Read(in)
	if err != nil || len(got) != 2 || !got[0].Equal(leaf.cert) || !got[1].Equal(ca.cert) {
		t.Fatalf("got %d certificates, %v", len(got), err)
	}
	if out := Write(got); bytes.Contains(out, []byte("PRIVATE")) || !bytes.Equal(out, append(leaf.pem(), ca.pem()...)) {
		t.Errorf("got\n%s", out)
	}
}

func TestABundleKeepsNoKey(t *testing.T) {
	ca := issue(t, nil, "ca")
	b := ReadBundle(append(ca.keyPEM(t), ca.pem()...))
	if b.Certs != 1 || strings.Contains(b.PEM, "PRIVATE") {
		t.Errorf("got %+v", b)
	}
	if err := b.Vouches(Chain{issue(t, &ca, "leaf", "guard.shop.svc").cert}, "guard.shop.svc", at); err != nil {
		t.Error(err)
	}
}

func TestOf(t *testing.T) {
	ca := issue(t, nil, "ca")
	got := Of(issue(t, &ca, "leaf", "guard.shop.svc").cert)
	if got.Subject != "CN=leaf" || got.Issuer != "CN=ca" || got.Serial != "ff" || got.CA || len(got.DNSNames) != 1 || got.IPs[0] != "10.0.0.1" || !got.NotAfter.Equal(at.Add(time.Hour)) {
		t.Errorf("got %+v", got)
	}
}

func TestReadChain(t *testing.T) {
	ca := issue(t, nil, "ca")
	for _, tt := range []struct{ name, body, want string }{
		{"nothing", "", "showed no certificate"},
		{"a key alone", string(ca.keyPEM(t)), "showed no certificate"},
		{"what is none", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate 1 of it cannot be read"},
		{"one", string(ca.pem()), ""},
	} {
		c, err := ReadChain(answered(tt.body))
		switch {
		case tt.want == "" && (err != nil || c.Leaf().Subject != "CN=ca"):
			t.Errorf("%s: got %v, %v", tt.name, c, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestVouches(t *testing.T) {
	ca, other := issue(t, nil, "ca"), issue(t, nil, "other")
	leaf := issue(t, &ca, "leaf", "guard.shop.svc")
	for _, tt := range []struct {
		name   string
		by     pair
		called string
		when   time.Time
		ok     bool
	}{
		{"its own", ca, "guard.shop.svc", at, true},
		{"another CA", other, "guard.shop.svc", at, false},
		{"another name", ca, "guard.other.svc", at, false},
		{"afterwards", ca, "guard.shop.svc", at.Add(2 * time.Hour), false},
	} {
		if err := ReadBundle(tt.by.pem()).Vouches(Chain{leaf.cert}, tt.called, tt.when); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func answered(body string) (a collectors.Answered) {
	a.Body, a.From = []byte(body), "tls://a"
	return a
}

func FuzzReadChain(f *testing.F) {
	ca := issue(f, nil, "ca")
	leaf := issue(f, &ca, "leaf", "a")
	f.Add(string(leaf.pem()) + string(ca.pem()))
	f.Add(string(ca.keyPEM(f)) + string(ca.pem()))
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	trusts := ReadBundle(ca.pem())
	f.Fuzz(func(t *testing.T, body string) {
		c, err := ReadChain(answered(body))
		if (err == nil) != (len(c) > 0) {
			t.Fatalf("%d certificates, %v", len(c), err)
		}
		if err != nil {
			return
		}
		c.Leaf()
		_ = trusts.Vouches(c, "a", at)
		again, err := Read(Write(c))
		if err != nil || len(again) != len(c) {
			t.Errorf("written and read again: %d of %d, %v", len(again), len(c), err)
		}
		if strings.Contains(string(Write(c)), "PRIVATE KEY") {
			t.Error("a key was kept")
		}
	})
}
