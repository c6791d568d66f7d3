package cluster

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
)

// Kind is a component of the control plane, by the name of its program.
type Kind string

// The components, in the order in which they are started.
const (
	Etcd              Kind = "etcd"
	APIServer         Kind = "kube-apiserver"
	ControllerManager Kind = "kube-controller-manager"
	Scheduler         Kind = "kube-scheduler"
)

func kinds() []Kind { return []Kind{Etcd, APIServer, ControllerManager, Scheduler} }

// Component is one instance of a component: on a node there is one of a kind.
type Component struct {
	Kind Kind
	Node int
	opts Options
}

// Components lists the instances of a kind; of every kind if none is named.
func (o Options) Components(of ...Kind) []Component {
	if len(of) == 0 {
		of = kinds()
	}
	count := map[Kind]int{
		Etcd: o.EtcdMembers, APIServer: o.APIServers,
		ControllerManager: o.ControllerManagers, Scheduler: o.Schedulers,
	}
	var all []Component
	for _, kind := range of {
		for i := range count[kind] {
			all = append(all, Component{Kind: kind, Node: i, opts: o})
		}
	}
	return all
}

// Name is that of the process and of its static pod.
func (c Component) Name() string { return string(c.Kind) + "-" + c.NodeName() }

// NodeName is the node the component runs on.
func (c Component) NodeName() string { return c.opts.NodeName(c.Node) }

// Target names the component as ktriage's findings do: kind/node.
func (c Component) Target() string { return string(c.Kind) + "/" + c.NodeName() }

// Command is what its static pod says it runs: the real flags.
func (c Component) Command() []string {
	var flags []flag
	switch c.Kind {
	case Etcd:
		flags = c.etcdFlags()
	case APIServer:
		flags = c.opts.apiServerFlags(c.Node)
	case ControllerManager:
		flags = c.opts.controllerManagerFlags(c.Node)
	case Scheduler:
		flags = c.opts.schedulerFlags(c.Node)
	}
	command := []string{string(c.Kind)}
	for _, f := range override(flags, c.opts.ExtraArgs[string(c.Kind)]) {
		command = append(command, "--"+f.name+"="+f.value)
	}
	return command
}

// Spec is the process behind the pod.
func (c Component) Spec(bins build.Binaries) supervise.Spec {
	path := map[Kind]string{
		Etcd: bins.Etcd, APIServer: bins.APIServer,
		ControllerManager: bins.ControllerManager, Scheduler: bins.Scheduler,
	}[c.Kind]
	if c.old() {
		path = bins.OldEtcd
	}
	return supervise.Spec{
		Name:     c.Name(),
		Netns:    c.opts.Netns(c.Node),
		Hostname: c.NodeName(),
		Path:     path,
		Args:     c.Command()[1:],
		Log:      c.opts.LogFile(c.Name()),
		Keep:     true,
	}
}

// old says whether it is a member of the previous version of etcd.
func (c Component) old() bool {
	return c.Kind == Etcd && c.Node >= c.opts.EtcdMembers-c.opts.OldEtcd && c.Node < c.opts.EtcdMembers
}

// etcdVersion is that of the member.
func (c Component) etcdVersion() string {
	if c.old() {
		return c.opts.Versions().OldEtcd
	}
	return c.opts.Versions().Etcd
}

// probe is where a kubelet asks whether the component is ready: kubeadm's
// probes. The controller manager has no readiness probe; its liveness stands in.
func (c Component) probe() string {
	switch c.Kind {
	case Etcd:
		return fmt.Sprintf("http://127.0.0.1:%d/readyz", etcdMetricsPort)
	case APIServer:
		return fmt.Sprintf("https://%s:%d/readyz", c.opts.NodeIP(c.Node), apiServerPort)
	case ControllerManager:
		return fmt.Sprintf("https://127.0.0.1:%d/healthz", controllerPort)
	default:
		return fmt.Sprintf("https://127.0.0.1:%d/readyz", schedulerPort)
	}
}

// ports are those of the component that a port-forward can reach; the first is
// the probe's.
func (c Component) ports() []int32 {
	switch c.Kind {
	case Etcd:
		return []int32{etcdMetricsPort, etcdClientPort}
	case APIServer:
		return []int32{apiServerPort}
	case ControllerManager:
		return []int32{controllerPort}
	default:
		return []int32{schedulerPort}
	}
}

type flag struct{ name, value string }

// override sets extra flags, in the place of those that are there already.
func override(flags []flag, extra map[string]string) []flag {
	flags = slices.Clone(flags)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
		if i < 0 {
			flags = append(flags, flag{name, extra[name]})
			continue
		}
		flags[i].value = extra[name]
	}
	return flags
}

// flagsOf reads name, value, name, value.
func flagsOf(pairs ...string) []flag {
	var flags []flag
	for pair := range slices.Chunk(pairs, 2) {
		flags = append(flags, flag{pair[0], pair[1]})
	}
	return flags
}

func (c Component) etcdFlags() []flag {
	o, i := c.opts, c.Node
	ip, pki := o.NodeIP(i), filepath.Join(o.PKI(i), "etcd")
	var initial []string
	for j := range o.EtcdMembers {
		initial = append(initial, o.NodeName(j)+"="+o.EtcdPeerURL(j))
	}
	client := fmt.Sprintf("https://%s:%d", ip, etcdClientPort)
	peer := fmt.Sprintf("https://%s:%d", ip, etcdPeerPort)
	// As kubeadm does: these were called experimental before 3.6.
	corruptCheck, progress := flag{"feature-gates", "InitialCorruptCheck=true"}, "watch-progress-notify-interval"
	if strings.HasPrefix(c.etcdVersion(), "v3.5.") {
		corruptCheck, progress = flag{"experimental-initial-corrupt-check", "true"}, "experimental-watch-progress-notify-interval"
	}
	return flagsOf(
		"name", o.NodeName(i),
		"listen-client-urls", fmt.Sprintf("https://127.0.0.1:%d,%s", etcdClientPort, client),
		"advertise-client-urls", client,
		"listen-peer-urls", peer,
		"initial-advertise-peer-urls", o.EtcdPeerURL(i),
		"data-dir", o.EtcdData(i),
		"cert-file", filepath.Join(pki, "server.crt"),
		"key-file", filepath.Join(pki, "server.key"),
		"trusted-ca-file", filepath.Join(pki, "ca.crt"),
		"client-cert-auth", "true",
		"peer-cert-file", filepath.Join(pki, "peer.crt"),
		"peer-key-file", filepath.Join(pki, "peer.key"),
		"peer-trusted-ca-file", filepath.Join(pki, "ca.crt"),
		"peer-client-cert-auth", "true",
		"snapshot-count", "10000",
		"listen-metrics-urls", fmt.Sprintf("http://127.0.0.1:%d", etcdMetricsPort),
		corruptCheck.name, corruptCheck.value,
		progress, "5s",
		"initial-cluster", strings.Join(initial, ","),
	)
}

func (o Options) apiServerFlags(i int) []flag {
	pki := o.PKI(i)
	etcd := o.EtcdEndpoints()
	if o.StackedEtcd {
		etcd = []string{fmt.Sprintf("https://127.0.0.1:%d", etcdClientPort)}
	}
	return flagsOf(
		"advertise-address", o.NodeIP(i),
		"allow-privileged", "true",
		"authorization-mode", "Node,RBAC",
		"client-ca-file", filepath.Join(pki, "ca.crt"),
		"enable-admission-plugins", "NodeRestriction",
		"enable-bootstrap-token-auth", "true",
		"etcd-cafile", filepath.Join(pki, "etcd/ca.crt"),
		"etcd-certfile", filepath.Join(pki, "apiserver-etcd-client.crt"),
		"etcd-keyfile", filepath.Join(pki, "apiserver-etcd-client.key"),
		"etcd-servers", strings.Join(etcd, ","),
		"kubelet-client-certificate", filepath.Join(pki, "apiserver-kubelet-client.crt"),
		"kubelet-client-key", filepath.Join(pki, "apiserver-kubelet-client.key"),
		"kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname",
		"proxy-client-cert-file", filepath.Join(pki, "front-proxy-client.crt"),
		"proxy-client-key-file", filepath.Join(pki, "front-proxy-client.key"),
		"requestheader-allowed-names", "front-proxy-client",
		"requestheader-client-ca-file", filepath.Join(pki, "front-proxy-ca.crt"),
		"requestheader-extra-headers-prefix", "X-Remote-Extra-",
		"requestheader-group-headers", "X-Remote-Group",
		"requestheader-username-headers", "X-Remote-User",
		"secure-port", fmt.Sprint(apiServerPort),
		"service-account-issuer", "https://kubernetes.default.svc.cluster.local",
		"service-account-key-file", filepath.Join(pki, "sa.pub"),
		"service-account-signing-key-file", filepath.Join(pki, "sa.key"),
		"service-cluster-ip-range", serviceCIDR,
		"tls-cert-file", filepath.Join(pki, "apiserver.crt"),
		"tls-private-key-file", filepath.Join(pki, "apiserver.key"),
	)
}

func (o Options) controllerManagerFlags(i int) []flag {
	pki, kubeconfig := o.PKI(i), filepath.Join(o.etcKubernetes(i), "controller-manager.conf")
	return flagsOf(
		"allocate-node-cidrs", "true",
		"authentication-kubeconfig", kubeconfig,
		"authorization-kubeconfig", kubeconfig,
		"bind-address", "127.0.0.1",
		"client-ca-file", filepath.Join(pki, "ca.crt"),
		"cluster-cidr", podCIDR,
		"cluster-name", "kubernetes",
		"cluster-signing-cert-file", filepath.Join(pki, "ca.crt"),
		"cluster-signing-key-file", filepath.Join(pki, "ca.key"),
		"controllers", "*,bootstrapsigner,tokencleaner",
		"kubeconfig", kubeconfig,
		"leader-elect", "true",
		"requestheader-client-ca-file", filepath.Join(pki, "front-proxy-ca.crt"),
		"root-ca-file", filepath.Join(pki, "ca.crt"),
		"service-account-private-key-file", filepath.Join(pki, "sa.key"),
		"service-cluster-ip-range", serviceCIDR,
		"use-service-account-credentials", "true",
	)
}

func (o Options) schedulerFlags(i int) []flag {
	kubeconfig := filepath.Join(o.etcKubernetes(i), "scheduler.conf")
	return flagsOf(
		"authentication-kubeconfig", kubeconfig,
		"authorization-kubeconfig", kubeconfig,
		"bind-address", "127.0.0.1",
		"kubeconfig", kubeconfig,
		"leader-elect", "true",
	)
}
