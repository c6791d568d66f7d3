package cluster

import (
	"fmt"
	"net"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/netns"
)

// Ports are the well-known ones: each node has a network of its own.
const (
	etcdClientPort  = 2379
	etcdPeerPort    = 2380
	etcdMetricsPort = 2381
	apiServerPort   = 6443
	controllerPort  = 10257
	schedulerPort   = 10259
	kubeletPort     = 10250
)

const (
	serviceCIDR = "10.96.0.0/16"
	podCIDR     = "10.244.0.0/16"
	// serviceIP is the first of serviceCIDR: that of default/kubernetes.
	serviceIP = "10.96.0.1"
	dnsIP     = "10.96.0.10"
)

// NodeName is the name of the i-th control-plane node, from 0.
func (o Options) NodeName(i int) string { return fmt.Sprintf("cp-%d", i+1) }

// WorkerName is the name of the i-th worker, from 0.
func (o Options) WorkerName(i int) string { return fmt.Sprintf("worker-%d", i+1) }

// NodeIP is the address of the i-th control-plane node.
func (o Options) NodeIP(i int) string { return o.addr(0, 11+i).String() }

// WorkerIP is the address of the i-th worker.
func (o Options) WorkerIP(i int) string { return o.addr(1+i/200, 1+i%200).String() }

func (o Options) addr(c, d int) net.IP {
	return net.IPv4(10, byte(77+o.Index), byte(c), byte(d)).To4()
}

// Netns is the network namespace of the i-th control-plane node.
func (o Options) Netns(i int) string { return fmt.Sprintf("%s-%s", o.bridge(), o.NodeName(i)) }

// workerNetns is the namespace that all workers share: nothing runs on them but
// the one kwok that plays their kubelets.
func (o Options) workerNetns() string { return o.bridge() + "-workers" }

func (o Options) bridge() string { return fmt.Sprintf("ktl%d", o.Index) }

// Network is the lab's: a space for each control-plane node, then the workers'.
func (o Options) Network() netns.Network {
	n := netns.Network{
		Bridge:  o.bridge(),
		Gateway: &net.IPNet{IP: o.addr(0, 1), Mask: net.CIDRMask(16, 32)},
	}
	for i := range o.ControlPlanes {
		n.Spaces = append(n.Spaces, netns.Space{Name: o.Netns(i), Addrs: []net.IP{net.ParseIP(o.NodeIP(i))}})
	}
	workers := netns.Space{Name: o.workerNetns()}
	for i := range o.Workers {
		workers.Addrs = append(workers.Addrs, net.ParseIP(o.WorkerIP(i)))
	}
	n.Spaces = append(n.Spaces, workers)
	return n
}

// NodeDir is the root of the i-th control-plane node's files: below it paths
// are as on a node that kubeadm made.
func (o Options) NodeDir(i int) string { return filepath.Join(o.Dir, "nodes", o.NodeName(i)) }

func (o Options) etcKubernetes(i int) string { return filepath.Join(o.NodeDir(i), "etc/kubernetes") }

// PKI is the folder of the i-th node's certificates.
func (o Options) PKI(i int) string { return filepath.Join(o.etcKubernetes(i), "pki") }

// EtcdData is the data folder of the i-th etcd member.
func (o Options) EtcdData(i int) string { return filepath.Join(o.NodeDir(i), "var/lib/etcd") }

// LogFile is where a process of that name writes.
func (o Options) LogFile(name string) string { return filepath.Join(o.Dir, "logs", name+".log") }

// workerDir is where the kwok that plays the workers has its files.
func (o Options) workerDir() string { return filepath.Join(o.Dir, "nodes/workers") }

// Kubeconfig is the administrator's.
func (o Options) Kubeconfig() string { return filepath.Join(o.Dir, "kubeconfig") }

// ReadOnlyKubeconfig is that of a user who may view objects and nothing else.
func (o Options) ReadOnlyKubeconfig() string { return filepath.Join(o.Dir, "kubeconfig-readonly") }

// TokenKubeconfig is that of a service account with the rights of a monitor.
func (o Options) TokenKubeconfig() string { return filepath.Join(o.Dir, "kubeconfig-token") }

// EtcdClient is the path, without suffix, of an etcd client's certificate and
// key. The authority's certificate is ca.crt beside them.
func (o Options) EtcdClient() string { return filepath.Join(o.Dir, "etcd-client/client") }

// EtcdCA is the certificate of the authority that signed etcd's.
func (o Options) EtcdCA() string { return filepath.Join(o.Dir, "etcd-client/ca.crt") }

// EtcdEndpoints are the client URLs of all members.
func (o Options) EtcdEndpoints() []string {
	var urls []string
	for i := range o.EtcdMembers {
		urls = append(urls, fmt.Sprintf("https://%s:%d", o.NodeIP(i), etcdClientPort))
	}
	return urls
}

// EtcdPeerURL is where the other members find the i-th.
func (o Options) EtcdPeerURL(i int) string {
	port := etcdPeerPort
	if o.PeerRelays {
		port = etcdRelayPort
	}
	return fmt.Sprintf("https://%s:%d", o.NodeIP(i), port)
}

// APIServerURL is where the i-th node's components find an API server: on their
// own node if one is there, else on the first.
func (o Options) APIServerURL(i int) string {
	if i >= o.APIServers {
		i = 0
	}
	return fmt.Sprintf("https://%s:%d", o.NodeIP(i), apiServerPort)
}

func (o Options) socket() string      { return filepath.Join(o.Dir, "supervisor.sock") }
func (o Options) optionsFile() string { return filepath.Join(o.Dir, "options.json") }
func (o Options) faultFile() string   { return filepath.Join(o.Dir, "fault") }
