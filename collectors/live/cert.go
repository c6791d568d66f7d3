package live

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ktriage/ktriage/collectors"
)

// certOf is what is told of a certificate.
func certOf(c *x509.Certificate) *collectors.Cert {
	return &collectors.Cert{
		Subject: c.Subject.String(), Issuer: c.Issuer.String(),
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), DNSNames: slices.Clone(c.DNSNames),
	}
}

// validity is until when the kubeconfig's client certificate, and the last of
// its CA's, are valid; nil for what it does not hold or what cannot be read.
func validity(config *rest.Config) (client, ca *time.Time) {
	c := rest.CopyConfig(config)
	if rest.LoadTLSFiles(c) != nil { // whoever connects will say so
		return nil, nil
	}
	if cs := certificates(c.CertData); len(cs) > 0 {
		client = &cs[0].NotAfter // what follows the first are its issuers
	}
	for _, x := range certificates(c.CAData) {
		if ca == nil || x.NotAfter.After(*ca) {
			ca = &x.NotAfter
		}
	}
	return client, ca
}

func certificates(data []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			return out
		}
		if c, err := x509.ParseCertificate(b.Bytes); err == nil && b.Type == "CERTIFICATE" {
			out = append(out, c)
		}
	}
}
