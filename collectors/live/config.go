package live

import (
	"cmp"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ktriage/ktriage/collectors/logs"
)

// A Kubeconfig yields the address and the credentials of a cluster.
// genericclioptions.ConfigFlags is one.
type Kubeconfig interface {
	ToRESTConfig() (*rest.Config, error)
	ToRawKubeConfigLoader() clientcmd.ClientConfig
}

// A Config is what the user gave a run, by flags, to reach a cluster with. Its
// zero value reaches what needs neither a kubeconfig nor a flag.
type Config struct {
	Kubeconfig Kubeconfig // read at the first request that needs it; may be nil
	Context    string     // the kubeconfig's context that was chosen by flag; empty for its current one
	Server     string     // the API server's address that was chosen by flag; empty for the kubeconfig's
	Version    string     // of ktriage, for the User-Agent

	Etcd EtcdFlags

	// NodeName is the node that this process runs on, if it runs on one. Pods
	// of that node are asked directly before port-forward is tried.
	NodeName string

	// ForwardToken lets the kubeconfig's bearer token go to components whose
	// serving certificate nobody vouches for.
	ForwardToken bool

	// HostRoot is where the host's file system is mounted: empty outside of a
	// container. Files that were given by flag or environment are not under it.
	HostRoot string

	// Logs are how much of the logs of the control plane's pods is read; nothing
	// if it is zero.
	Logs logs.Bounds

	RequestTimeout time.Duration // until an answer begins; 5 s if zero
	BodyTimeout    time.Duration // until a reply is complete; 30 s if zero
	MaxInFlight    int           // requests at a time, three quarters of them to one server; 8 if zero
	QPS            float64       // requests a second; 20 if zero
	Burst          int           // requests at once before QPS holds; 20 if zero

	Getenv func(string) string // os.Getenv if nil
}

// EtcdFlags are the flags about etcd, named as etcdctl names its own.
type EtcdFlags struct {
	Endpoints          []string
	CACert, Cert, Key  string
	InsecureSkipVerify bool
}

// The defaults. Five seconds is what a control plane that works needs by a
// factor of a hundred; eight requests at a time are fewer than one kubelet
// restart causes; 20 a second is less than half of what kubectl allows itself.
const (
	defaultRequestTimeout = 5 * time.Second
	defaultBodyTimeout    = 30 * time.Second
	defaultMaxInFlight    = 8
	defaultQPS            = 20
	defaultBurst          = 20
)

// crucial is how urgent a request is without whose answer little can be judged:
// that many facts are asked by it. It is given more time than others.
const crucial = 10

// patience is how long a request may take until an answer begins.
func (c Config) patience(urgency int) time.Duration {
	if urgency >= crucial {
		return c.RequestTimeout * 8 / 5
	}
	return c.RequestTimeout
}

// impatience is how long is waited for a way that has another behind it.
func (c Config) impatience() time.Duration { return c.RequestTimeout * 3 / 10 }

// connectWithin is how much of the time until an answer a connection may take.
// Less of it than for an answer shows that nobody is there: neither TCP nor TLS
// has to wait for a store.
func (c Config) connectWithin(answer time.Duration) time.Duration {
	return min(answer, c.RequestTimeout*3/5)
}

func (c Config) withDefaults() Config {
	c.RequestTimeout = cmp.Or(c.RequestTimeout, defaultRequestTimeout)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, defaultBodyTimeout)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, defaultMaxInFlight)
	c.QPS = cmp.Or(c.QPS, defaultQPS)
	c.Burst = cmp.Or(c.Burst, defaultBurst)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	return c
}
