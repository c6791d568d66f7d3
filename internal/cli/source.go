package cli

import (
	"context"
	_ "embed"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/live"
	"github.com/ktriage/ktriage/collectors/logs"
)

// demo is a recording of a sick cluster: the disks under etcd are slow.
//
//go:embed demo.tar.gz
var demo []byte

// sourceFlags say where the answers come from.
type sourceFlags struct {
	kube    *genericclioptions.ConfigFlags
	etcd    live.EtcdFlags
	node    string
	forward bool

	from      []string
	at        string
	windowSet func() bool // --window was given
	window    time.Duration
	timeout   time.Duration
	qps       float64
	flight    int

	logs     bool
	logLines int
	logSince time.Duration
}

func (f *sourceFlags) add(fs *pflag.FlagSet, recordings bool) {
	f.addReach(fs)
	fs.DurationVar(&f.window, "window", 10*time.Second, "how long to watch counters; grows up to 30s while a verdict lacks observations")
	f.windowSet = func() bool { return fs.Changed("window") }
	fs.DurationVar(&f.timeout, "timeout", time.Minute, "how long to collect at most")
	if recordings {
		fs.StringArrayVar(&f.from, "from", nil, "judge this instead: a `file` of ktriage capture, a folder, archive or file of loose evidence, - for standard input, or demo; several make one account")
		fs.StringVar(&f.at, "at", "", "`when` loose evidence is from, as 2006-01-02T15:04:05Z; else the latest time in it")
	}
}

// addReach adds what says how a live cluster is reached.
func (f *sourceFlags) addReach(fs *pflag.FlagSet) {
	f.kube = genericclioptions.NewConfigFlags(false)
	f.kube.AddFlags(fs)
	if f := fs.Lookup("request-timeout"); f != nil {
		f.Usage = `how long the API server may take to begin an answer, for example 5s; "0" means 5s`
	}
	fs.StringSliceVar(&f.etcd.Endpoints, "etcd-endpoints", nil, "etcd's client `URLs`; ETCDCTL_ENDPOINTS, or found from its pods")
	fs.StringVar(&f.etcd.CACert, "etcd-cacert", "", "CA `file` of etcd's serving certificates; ETCDCTL_CACERT")
	fs.StringVar(&f.etcd.Cert, "etcd-cert", "", "client certificate `file` for etcd; ETCDCTL_CERT")
	fs.StringVar(&f.etcd.Key, "etcd-key", "", "key `file` of the client certificate for etcd; ETCDCTL_KEY")
	fs.BoolVar(&f.etcd.InsecureSkipVerify, "etcd-insecure-skip-tls-verify", false, "do not verify etcd's serving certificates")
	fs.StringVar(&f.node, "node-name", "", "the `node` this runs on, if it runs on one: its components are asked directly; NODE_NAME")
	fs.BoolVar(&f.forward, "forward-token", false, "send the kubeconfig's token to scheduler and controller manager, whose certificates nobody vouches for")
	fs.Float64Var(&f.qps, "max-qps", 20, "requests a second at most")
	fs.IntVar(&f.flight, "max-in-flight", 8, "requests at a time at most")
}

// addLogs adds what says whether, and how much of, the control plane's logs is
// read.
func (f *sourceFlags) addLogs(fs *pflag.FlagSet, usually bool) {
	d := logs.Default()
	fs.BoolVar(&f.logs, "logs", usually, "read the logs of the control plane's pods, and of their containers before a restart")
	fs.IntVar(&f.logLines, "log-lines", d.Lines, "with --logs: how many lines of each at most")
	fs.DurationVar(&f.logSince, "log-since", time.Duration(d.SinceSeconds)*time.Second, "with --logs: from how long ago on")
}

func (f *sourceFlags) logBounds() logs.Bounds {
	if !f.logs {
		return logs.Bounds{}
	}
	b := logs.Default()
	b.Lines, b.SinceSeconds = f.logLines, int(f.logSince/time.Second)
	return b
}

// check refuses values that make no sense before anything is dialled.
func (f *sourceFlags) check() error {
	switch {
	case f.window < time.Second:
		return usagef("--window %s is too short to count in; it must be at least 1s", f.window)
	case f.window > 10*time.Minute:
		return usagef("--window %s is over 10m", f.window)
	case f.timeout <= f.window:
		return usagef("--timeout %s must be longer than --window %s", f.timeout, f.window)
	case f.qps <= 0:
		return usagef("--max-qps must be above 0, got %v", f.qps)
	case f.logs && f.logLines <= 0:
		return usagef("--log-lines must be above 0, got %d", f.logLines)
	case f.logs && f.logSince < time.Second:
		return usagef("--log-since must be at least 1s, got %s", f.logSince)
	case f.flight <= 0:
		return usagef("--max-in-flight must be above 0, got %d", f.flight)
	}
	return nil
}

// origin is where the answers of a run come from.
type origin struct {
	source collectors.Source
	name   string        // as the report gives it
	meta   *capture.Meta // of a recording; nil if live
	cost   func() collectors.Cost
	close  func()
	deep   bool    // it holds what is otherwise asked for on demand only
	node   bool    // it is of the node that ktriage runs on, without the API
	before *origin // the same cluster at an earlier time; nil if none was given
}

func (a *app) origin(f *sourceFlags) (*origin, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if len(f.from) == 0 {
		return a.live(f)
	}
	return a.given(f)
}

func (a *app) live(f *sourceFlags) (*origin, error) {
	node := f.node
	if node == "" {
		node = a.Getenv("NODE_NAME")
	}
	var request time.Duration
	if v := f.kube.Timeout; v != nil && *v != "" && *v != "0" {
		d, err := time.ParseDuration(*v)
		if err != nil || d <= 0 {
			return nil, usagef("--request-timeout %q is not a duration, for example 5s", *v)
		}
		request = d
	}
	src, err := live.New(live.Config{
		Kubeconfig: f.kube, Context: deref(f.kube.Context), Server: deref(f.kube.APIServer), Version: version(), Etcd: f.etcd, NodeName: node, ForwardToken: f.forward,
		Logs: f.logBounds(), RequestTimeout: request, MaxInFlight: f.flight, QPS: f.qps, Getenv: a.Getenv,
	})
	if err != nil {
		return nil, err
	}
	return &origin{source: src, name: "live", cost: src.Cost, close: func() { src.Close() }}, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// deadline bounds collection. The report is made of what was collected by then.
func deadline(ctx context.Context, f *sourceFlags) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, f.timeout)
}
