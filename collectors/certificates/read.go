package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// Of is what is told of a certificate.
func Of(c *x509.Certificate) collectors.Cert {
	out := collectors.Cert{
		Subject: c.Subject.String(), Issuer: c.Issuer.String(),
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), DNSNames: slices.Clone(c.DNSNames), CA: c.IsCA,
	}
	for _, ip := range c.IPAddresses {
		out.IPs = append(out.IPs, ip.String())
	}
	if c.SerialNumber != nil {
		out.Serial = c.SerialNumber.Text(16)
	}
	return out
}

// Read reads the certificates of a PEM file, in their order. Blocks that are
// none are passed over.
func Read(data []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for n := 0; n < maxCerts; n++ {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			break
		}
		if b.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of it cannot be read: %w", len(out)+1, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// Write writes certificates as PEM.
func Write(cs []*x509.Certificate) []byte {
	var b bytes.Buffer
	for _, c := range cs {
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // a buffer takes all
	}
	return b.Bytes()
}

// A Chain is what a server showed: its own certificate first.
type Chain []*x509.Certificate

// ReadChain reads the reply to a Greet.
func ReadChain(a collectors.Answered) (Chain, error) {
	cs, err := Read(a.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.From, err)
	}
	if len(cs) == 0 {
		return nil, collectors.Gapf(collectors.Absent, "%s showed no certificate", a.From)
	}
	return cs, nil
}

// Leaf is the server's own certificate.
func (c Chain) Leaf() collectors.Cert { return Of(c[0]) }
