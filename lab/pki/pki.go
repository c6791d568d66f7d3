// Package pki makes the certificates of a lab's control plane, laid out as
// kubeadm lays them out.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// caValidity is kubeadm's: ten years.
const caValidity = 10 * 365 * 24 * time.Hour

// Leaf says what a certificate is for.
type Leaf struct {
	CommonName    string
	Organizations []string
	DNSNames      []string
	IPs           []net.IP
	Server        bool
	Client        bool
	// Validity counts from now. NotBefore is an hour ago, so a negative one
	// gives a certificate that has expired.
	Validity time.Duration
}

// Pair is a certificate with its key, both as PEM.
type Pair struct {
	Cert []byte
	Key  []byte
}

// Authority signs certificates.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes a self-signed certificate authority.
func NewAuthority(commonName string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key of %s: %w", commonName, err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(caValidity),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{commonName},
	}
	pair, cert, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", commonName, err)
	}
	return &Authority{Pair: pair, cert: cert, key: key}, nil
}

// LoadAuthority reads back an authority written by Write, so that a fault can
// sign certificates for a lab that is already up.
func LoadAuthority(path string) (*Authority, error) {
	pair, err := Read(path)
	if err != nil {
		return nil, err
	}
	certBlock, _ := pem.Decode(pair.Cert)
	keyBlock, _ := pem.Decode(pair.Key)
	if certBlock == nil || keyBlock == nil {
		return nil, fmt.Errorf("read authority %s: no PEM", path)
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read authority %s: %w", path, err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read key of authority %s: %w", path, err)
	}
	return &Authority{Pair: pair, cert: cert, key: key}, nil
}

// Issue signs a certificate with a key of its own.
func (a *Authority) Issue(leaf Leaf) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make key of %s: %w", leaf.CommonName, err)
	}
	notAfter := time.Now().Add(leaf.Validity)
	notBefore := time.Now().Add(-time.Hour)
	if !notBefore.Before(notAfter) {
		notBefore = notAfter.Add(-time.Hour)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: leaf.CommonName, Organization: leaf.Organizations},
		NotBefore:   notBefore,
		NotAfter:    notAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		DNSNames:    leaf.DNSNames,
		IPAddresses: leaf.IPs,
	}
	if leaf.Server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if leaf.Client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	pair, _, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign %s: %w", leaf.CommonName, err)
	}
	return pair, nil
}

// ServiceAccountKeys makes the key pair that signs service-account tokens. Its
// Cert is a bare public key.
func ServiceAccountKeys() (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make service-account key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return Pair{}, fmt.Errorf("encode service-account key: %w", err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode service-account key: %w", err)
	}
	return Pair{Cert: block("PUBLIC KEY", public), Key: block("EC PRIVATE KEY", private)}, nil
}

// Write puts the pair at path.crt and path.key.
func (p Pair) Write(path string) error { return p.write(path+".crt", path+".key") }

// WritePublic puts the pair at path.pub and path.key, as kubeadm keeps the keys
// of service accounts.
func (p Pair) WritePublic(path string) error { return p.write(path+".pub", path+".key") }

func (p Pair) write(cert, key string) error {
	if err := os.MkdirAll(filepath.Dir(cert), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(cert, p.Cert, 0o644); err != nil {
		return err
	}
	return os.WriteFile(key, p.Key, 0o600)
}

// Read reads the pair at path.crt and path.key.
func Read(path string) (Pair, error) {
	cert, err := os.ReadFile(path + ".crt")
	if err != nil {
		return Pair{}, fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(path + ".key")
	if err != nil {
		return Pair{}, fmt.Errorf("read key: %w", err)
	}
	return Pair{Cert: cert, Key: key}, nil
}

func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer) (Pair, *x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return Pair{}, nil, err
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, nil, err
	}
	return Pair{Cert: block("CERTIFICATE", der), Key: block("EC PRIVATE KEY", private)}, cert, nil
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// ReadLeaf reads what the certificate at path.crt is for, so that it can be
// issued again.
func ReadLeaf(path string) (Leaf, error) {
	pair, err := Read(path)
	if err != nil {
		return Leaf{}, err
	}
	der, _ := pem.Decode(pair.Cert)
	if der == nil {
		return Leaf{}, fmt.Errorf("read certificate %s: no PEM", path)
	}
	cert, err := x509.ParseCertificate(der.Bytes)
	if err != nil {
		return Leaf{}, fmt.Errorf("read certificate %s: %w", path, err)
	}
	leaf := Leaf{CommonName: cert.Subject.CommonName, Organizations: cert.Subject.Organization, DNSNames: cert.DNSNames, IPs: cert.IPAddresses}
	for _, usage := range cert.ExtKeyUsage {
		leaf.Server = leaf.Server || usage == x509.ExtKeyUsageServerAuth
		leaf.Client = leaf.Client || usage == x509.ExtKeyUsageClientAuth
	}
	return leaf, nil
}
