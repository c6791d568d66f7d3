package live

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"

	"github.com/ktriage/ktriage/collectors"
)

// A kube is the cluster that the kubeconfig names, and how to speak to it.
type kube struct {
	config    *rest.Config
	base      *url.URL // of the server, without user info
	addr      string   // host:port of the server
	tls       *tls.Config
	transport *transport.Config // the credentials
	rt        http.RoundTripper
	given     given
}

// given is what the kubeconfig says of a cluster, as config:/cluster tells it.
type given struct {
	Name      string `json:"name"`
	Server    string `json:"server"`
	Context   string `json:"context"`
	Namespace string `json:"namespace"`
	User      string `json:"user"` // by what we are known, not as whom

	ClientUntil *time.Time `json:"clientUntil,omitempty"` // the end of the client certificate
	CAUntil     *time.Time `json:"caUntil,omitempty"`     // of the last of the CA's
	TokenUntil  *time.Time `json:"tokenUntil,omitempty"`  // the end of the token, where it says so itself

	Client *collectors.Cert  `json:"client,omitempty"`
	CA     []collectors.Cert `json:"ca,omitempty"`
}

// noServer is what clientcmd makes of the lack of a kubeconfig.
const noServer = "http://localhost:8080"

// openKube reads the kubeconfig. It dials nobody.
func (s *Source) openKube() (*kube, *collectors.Gap) {
	remedy := "name one: --kubeconfig FILE (kubeadm keeps /etc/kubernetes/admin.conf on control-plane nodes), or KUBECONFIG"
	if s.config.Kubeconfig == nil {
		return nil, collectors.Gapf(collectors.NotAsked, "there is no kubeconfig").With(remedy)
	}
	config, err := s.config.Kubeconfig.ToRESTConfig()
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "the kubeconfig cannot be used: %v", err).With(remedy)
	}
	loader := s.config.Kubeconfig.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "the kubeconfig cannot be used: %v", err).With(remedy)
	}
	if len(raw.Clusters) == 0 && strings.TrimSuffix(config.Host, "/") == noServer && s.config.Getenv("KUBERNETES_MASTER") == "" {
		return nil, collectors.Gapf(collectors.NotAsked, "there is no kubeconfig: none was found in %s", places(loader)).With(remedy)
	}
	if why := lacksServer(raw, cmp.Or(s.config.Context, raw.CurrentContext)); why != "" && strings.TrimSuffix(config.Host, "/") == noServer && s.config.Server == "" && s.config.Getenv("KUBERNETES_MASTER") == "" {
		return nil, collectors.Gapf(collectors.NotAsked, "the kubeconfig names no API server: %s", why).With("see: kubectl config get-contexts; choose one with --context")
	}
	k, err := s.newKube(config)
	if err != nil {
		return nil, collectors.Gapf(collectors.NotAsked, "the kubeconfig cannot be used: %v", err).With(remedy)
	}
	k.given.Context = cmp.Or(s.config.Context, raw.CurrentContext)
	if c := raw.Contexts[k.given.Context]; c != nil {
		k.given.Name = c.Cluster
	}
	if c := raw.Clusters[k.given.Name]; c == nil || c.Server != config.Host {
		for name, c := range raw.Clusters { // --cluster or --server chose another
			if c.Server == config.Host {
				k.given.Name = name
			}
		}
	}
	k.given.Name = cmp.Or(k.given.Name, k.base.Host)
	k.given.Namespace, _, _ = loader.Namespace() // of no consequence
	return k, nil
}

// lacksServer says why a context of a kubeconfig has no server, for which clientcmd
// takes noServer; "" if it has one. What answers there, or does not, is not the
// cluster that was meant.
func lacksServer(raw clientcmdapi.Config, context string) string {
	x := raw.Contexts[context]
	switch {
	case context == "":
		return "it has no current context"
	case x == nil:
		return fmt.Sprintf("it has no context %q", context)
	case raw.Clusters[x.Cluster] == nil:
		return fmt.Sprintf("its context %q is of the cluster %q, which it does not have", context, x.Cluster)
	case raw.Clusters[x.Cluster].Server == "":
		return fmt.Sprintf("its cluster %q has no server", x.Cluster)
	}
	return ""
}

func places(loader clientcmd.ClientConfig) string {
	a := loader.ConfigAccess()
	if f := a.GetExplicitFile(); f != "" {
		return f
	}
	return strings.Join(a.GetLoadingPrecedence(), ", ")
}

func (s *Source) newKube(config *rest.Config) (*kube, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "ktriage/" + s.config.Version
	hasTLS := len(config.CAData) > 0 || config.CAFile != "" || len(config.CertData) > 0 || config.CertFile != "" || config.Insecure
	host, _, err := rest.DefaultServerURL(config.Host, "", schema.GroupVersion{}, hasTLS)
	if err != nil {
		return nil, err
	}
	// What stands in the URL as its user is a credential of basic
	// authentication, which Kubernetes has given up. It is shown to nobody.
	host.User = nil
	k := &kube{config: config, base: host, addr: hostPort(host)}
	if k.transport, err = config.TransportConfig(); err != nil {
		return nil, err
	}
	if k.tls, err = transport.TLSConfigFor(k.transport); err != nil {
		return nil, err
	}
	if k.tls == nil {
		k.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	k.rt, err = s.transports.get(k.breakerKey(), func() (http.RoundTripper, error) { return k.over(s.newTransport(k.tls, k.proxy())) })
	if err != nil {
		return nil, err
	}
	k.given.Server, k.given.User = host.String(), knownBy(config)
	k.given.tell(config)
	return k, nil
}

// over adds the kubeconfig's credentials to what is sent over rt.
func (k *kube) over(rt http.RoundTripper) (http.RoundTripper, error) {
	return transport.HTTPWrappersForConfig(k.transport, rt)
}

// breakerKey is by what name the breaker knows the server.
func (k *kube) breakerKey() string { return "kube " + k.addr }

// proxy is the kubeconfig's, or the environment's.
func (k *kube) proxy() func(*http.Request) (*url.URL, error) {
	if k.config.Proxy != nil {
		return k.config.Proxy
	}
	return http.ProxyFromEnvironment
}

// newTransport makes a transport with connections of its own.
func (s *Source) newTransport(tls *tls.Config, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	if tls != nil {
		tls = tls.Clone()
	}
	return utilnet.SetTransportDefaults(&http.Transport{
		Proxy:               proxy,
		TLSClientConfig:     tls,
		DialContext:         s.dial,
		TLSHandshakeTimeout: 2 * s.config.RequestTimeout, // the request's own timeout comes first, and is better put
		MaxIdleConnsPerHost: s.config.MaxInFlight,
	})
}

// hostPort returns host:port of a URL.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// knownBy says by what kind of credentials the server knows us.
func knownBy(c *rest.Config) string {
	var by string
	switch {
	case c.ExecProvider != nil:
		by = "exec plugin"
	case c.AuthProvider != nil:
		by = "auth provider"
	case c.BearerToken != "" || c.BearerTokenFile != "":
		by = "token"
	case c.CertData != nil || c.CertFile != "":
		by = "client certificate"
	case c.Username != "":
		by = "password"
	default:
		by = "nothing: anonymous"
	}
	if who := c.Impersonate.UserName; who != "" {
		by += ", impersonating " + who
	}
	return by
}
