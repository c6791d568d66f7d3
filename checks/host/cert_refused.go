package host

import (
	"cmp"
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed cert_refused.md
var certRefusedDoc string

// CertRefused looks whether the API server and etcd trust each other's certificates.
var CertRefused = &checks.Check{
	ID:        "host-cert-refused",
	Component: collectors.Host,
	Title:     "the API server and etcd trust each other's certificates",
	Doc:       certRefusedDoc,
	Needs:     []collectors.Any{host.Nodes, host.Named},
	Remedies: []checks.Remedy{
		{Title: "see who signed it", Command: `openssl x509 -in /etc/kubernetes/pki/apiserver-etcd-client.crt -noout -issuer -subject -dates`, Risk: checks.ReadOnly},
		{Title: "make it anew from the CA that is there", Command: `kubeadm certs renew apiserver-etcd-client`, Risk: checks.Safe},
	},
	Run: certRefused,
}

// pairs are who shows what to whom on a node.
var pairs = []struct {
	of    host.Role
	cert  string
	by    host.Role
	ca    string
	who   string
	usage x509.ExtKeyUsage
}{
	{host.APIServer, "etcd-certfile", host.Etcd, "trusted-ca-file", "etcd", x509.ExtKeyUsageClientAuth},
	{host.Etcd, "cert-file", host.APIServer, "etcd-cafile", "the API server", x509.ExtKeyUsageServerAuth},
	{host.Etcd, "peer-cert-file", host.Etcd, "peer-trusted-ca-file", "the other members", x509.ExtKeyUsageClientAuth},
	{host.APIServer, "kubelet-client-certificate", host.APIServer, "client-ca-file", "the kubelet", x509.ExtKeyUsageClientAuth},
	{host.APIServer, "proxy-client-cert-file", host.APIServer, "requestheader-client-ca-file", "an aggregated API", x509.ExtKeyUsageClientAuth},
}

// refused tells why a certificate would be refused by those that trust the CAs;
// that it has ended, or is not valid yet, is no part of it.
func refused(leaf, cas string, usage x509.ExtKeyUsage, now time.Time) string {
	chain, err := certificates.Read([]byte(leaf))
	if err != nil || len(chain) == 0 {
		return "the file holds no certificate"
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(cas)) {
		return "the file of its CA holds no certificate"
	}
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	at := now
	if at.After(chain[0].NotAfter) {
		at = chain[0].NotAfter
	}
	if at.Before(chain[0].NotBefore) {
		at = chain[0].NotBefore
	}
	_, err = chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: at})
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown):
		return fmt.Sprintf("%q signed it, whom nobody there trusts, or another of that name", chain[0].Issuer.CommonName)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "" // of the CA: ca-expiring and cert-files-expiring tell
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

func certRefused(p *checks.Pass) {
	fs, ok := namedFiles(p)
	if !ok {
		return
	}
	any := false
	for _, x := range pairs {
		cert, ok1 := fs.Of(x.of, x.cert)
		ca, ok2 := fs.Of(x.by, x.ca)
		if !ok1 || !ok2 || cert.Missing || ca.Missing {
			continue
		}
		any = true
		t := collectors.Target{Component: collectors.Host, Name: string(x.of) + "/" + x.cert, Node: nodeName(p)}
		if u := cmp.Or(cert.Unread, ca.Unread); u != nil {
			p.Unknown(t, u.Gap())
			continue
		}
		if why := refused(cert.Certs, ca.Certs, x.usage, p.Now()); why != "" {
			p.Critical(t, "%s does not trust %s: %s", x.who, cert.Path, why).
				Saw(host.Named, "trusted by", ca.Path, "", "").Mark("role="+string(x.of), "role="+string(x.by))
			continue
		}
		p.OK(t, "%s vouches for %s", ca.Path, cert.Path).Saw(host.Named, "trusted by", ca.Path, "", "")
	}
	if !any {
		p.Nothing(self(p), "the API server and etcd of this node do not name certificates of each other's")
	}
}
