package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

// maxCerts bounds what is read of one bundle; the world's CAs are some 150.
const maxCerts = 1000

// A Bundle is a list of CA certificates by which others are trusted.
type Bundle struct {
	Certs  int       // how many it holds
	From   time.Time // when the last of them becomes valid
	Until  time.Time // when the last of them ends: before, something is trusted
	Broken string    // why it cannot be read; empty if it can
	PEM    string    // the certificates themselves
}

// Empty reports that there is nothing in it: what is trusted is then up to
// whoever reads it.
func (b Bundle) Empty() bool { return b.Certs == 0 && b.Broken == "" }

// Expired reports that no certificate of it is valid any more.
func (b Bundle) Expired(now time.Time) bool { return b.Certs > 0 && now.After(b.Until) }

// ReadBundle reads PEM. Blocks that are no certificates are passed over, as
// they are by those who use such bundles.
func ReadBundle(data []byte) Bundle {
	var b Bundle
	blocks := 0
	var cs []*x509.Certificate
	for len(data) > 0 && blocks < maxCerts {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		blocks++
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return Bundle{Broken: fmt.Sprintf("certificate %d of it cannot be read", b.Certs+1)}
		}
		cs = append(cs, c)
		b.Certs++
		if c.NotBefore.After(b.From) {
			b.From = c.NotBefore
		}
		if c.NotAfter.After(b.Until) {
			b.Until = c.NotAfter
		}
	}
	switch {
	case b.Certs > 0:
		b.PEM = string(Write(cs)) // and no key that stood beside them
	case blocks > 0:
		b.Broken = "it holds no certificate"
	case len(data) > 0:
		b.Broken = "it is not PEM"
	}
	return b
}

// Vouches tells whether the bundle vouches, at a time, for a server of that name
// which showed the chain, as the API server would find: an error of crypto/x509
// says why not.
func (b Bundle) Vouches(chain Chain, name string, at time.Time) error {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(b.PEM))
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: name, CurrentTime: at})
	return err
}
