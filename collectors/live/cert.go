package live

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ktriage/ktriage/collectors"
	certs "github.com/ktriage/ktriage/collectors/certificates"
)

// certOf is what is told of a certificate.
func certOf(c *x509.Certificate) *collectors.Cert {
	out := certs.Of(c)
	return &out
}

// tell says what the kubeconfig's client certificate, its CA and its token say of
// themselves; nothing of what it does not hold or what cannot be read.
func (g *given) tell(config *rest.Config) {
	c := rest.CopyConfig(config)
	if rest.LoadTLSFiles(c) != nil { // whoever connects will say so
		return
	}
	if cs := certificates(c.CertData); len(cs) > 0 {
		g.Client, g.ClientUntil = certOf(cs[0]), &cs[0].NotAfter // what follows the first are its issuers
		g.Client.Subject = ""                                    // as whom we are known is nobody's business
	}
	for _, x := range certificates(c.CAData) {
		g.CA = append(g.CA, *certOf(x))
		if g.CAUntil == nil || x.NotAfter.After(*g.CAUntil) {
			g.CAUntil = &x.NotAfter
		}
	}
	token := c.BearerToken
	if c.BearerTokenFile != "" {
		if b, err := readSmall("", c.BearerTokenFile); err == nil {
			token = string(b)
		}
	}
	g.TokenUntil = tokenEnd(token)
}

// lastSecond is the last that has a year of four digits, as JSON wants it.
const lastSecond = 253402300799

// tokenEnd is when a token says that it ends; nil if it does not say.
func tokenEnd(token string) *time.Time {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Exp json.Number `json:"exp"`
	}
	if json.Unmarshal(b, &claims) != nil {
		return nil
	}
	seconds, err := claims.Exp.Int64()
	if err != nil || seconds <= 0 || seconds > lastSecond {
		return nil
	}
	t := time.Unix(seconds, 0).UTC()
	return &t
}

// certificates reads PEM and passes over what is no certificate, keys above all.
func certificates(data []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			return out
		}
		if b.Type != "CERTIFICATE" {
			continue
		}
		if c, err := x509.ParseCertificate(b.Bytes); err == nil {
			out = append(out, c)
		}
	}
}
