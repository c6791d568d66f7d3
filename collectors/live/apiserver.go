package live

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/transport"

	"github.com/ktriage/ktriage/collectors"
)

// inCluster is a name that every API server's certificate holds.
const inCluster = "kubernetes.default.svc"

// askAPIServer answers apiserver://host:port/path: one instance, past the load
// balancer, over connections that no other instance shares.
func (s *Source) askAPIServer(ctx context.Context, a attempt, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	k, gap := s.kube()
	if gap != nil {
		return nil, &collectors.Gap{Reason: gap.Reason, Detail: a.way + ": " + gap.Detail, Remedy: gap.Remedy}
	}
	rt, err := s.transports.get("apiserver "+u.Host, func() (http.RoundTripper, error) { return s.instance(k, u.Hostname()) })
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "%s: %v", a.way, err)
	}
	target := *u
	target.Scheme, target.User = "https", nil
	reply, gap := s.askAPI(ctx, a, a.way, "apiserver "+u.Host, rt, &target)
	if gap != nil && k.tls.InsecureSkipVerify && (gap.Reason == collectors.Unauthorized || gap.Reason == collectors.Forbidden) {
		gap.Remedy = "put the cluster's CA into the kubeconfig: with insecure-skip-tls-verify no token is sent to an address that the cluster named"
	}
	return reply, gap
}

// instance makes the transport to one API server. Its address comes from the
// cluster, not from the user, so the certificate is verified against the
// kubeconfig's CA whatever happens, and the token is left out where there is
// no way to verify.
func (s *Source) instance(k *kube, host string) (http.RoundTripper, error) {
	conf := k.tls.Clone()
	if conf.InsecureSkipVerify {
		return s.newTransport(conf, k.proxy()), nil
	}
	accepted := k.names()
	if conf.RootCAs != nil {
		// Under a CA of the cluster's own, a certificate for this very
		// address is as good. Under the world's CAs anyone may have one.
		accepted = append(accepted, host)
	}
	// The instance is asked for the certificate that it shows through the
	// load balancer, and need not hold its own address. crypto/tls knows one
	// name only, so the same verification is done here for several.
	conf.ServerName = accepted[0]
	conf.InsecureSkipVerify = true
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		return verify(cs.PeerCertificates, conf.RootCAs, accepted)
	}
	return transport.HTTPWrappersForConfig(k.transport, s.newTransport(conf, k.proxy()))
}

// names are those of which one at least is in every API server's certificate:
// the kubeconfig's, and the Service's.
func (k *kube) names() []string {
	return []string{cmp.Or(k.tls.ServerName, k.base.Hostname()), inCluster}
}

// A kubelet may have a serving certificate of the cluster's CA, for its node's
// name and addresses, and what it says of its node it says alone: that an API
// server runs there, for example. Kubernetes puts these names into such a
// certificate and lets nobody else have them.
const (
	kubeletGroup = "system:nodes"
	kubeletName  = "system:node:"
)

// verify does what crypto/tls does, but accepts any of the names, and no kubelet.
func verify(chain []*x509.Certificate, roots *x509.CertPool, accepted []string) error {
	if len(chain) == 0 {
		return errors.New("no certificate was shown")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	if who := chain[0].Subject; slices.Contains(who.Organization, kubeletGroup) || strings.HasPrefix(who.CommonName, kubeletName) {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: errKubelet}
	}
	if slices.ContainsFunc(accepted, func(n string) bool { return chain[0].VerifyHostname(n) == nil }) {
		return nil
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: x509.HostnameError{Certificate: chain[0], Host: strings.Join(accepted, " or ")}}
}
