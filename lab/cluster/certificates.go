package cluster

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/pki"
)

// authorities are the three of a kubeadm cluster.
type authorities struct {
	kubernetes, etcd, frontProxy *pki.Authority
	serviceAccounts              pki.Pair
}

func newAuthorities() (authorities, error) {
	var a authorities
	for name, authority := range map[string]**pki.Authority{
		"kubernetes": &a.kubernetes, "etcd-ca": &a.etcd, "front-proxy-ca": &a.frontProxy,
	} {
		var err error
		if *authority, err = pki.NewAuthority(name); err != nil {
			return a, err
		}
	}
	var err error
	a.serviceAccounts, err = pki.ServiceAccountKeys()
	return a, err
}

// writePKI makes all certificates and kubeconfigs of the lab.
func (o Options) writePKI() error {
	auth, err := newAuthorities()
	if err != nil {
		return err
	}
	for i := range o.ControlPlanes {
		if err := o.writeNodePKI(auth, i); err != nil {
			return fmt.Errorf("make certificates of %s: %w", o.NodeName(i), err)
		}
		if err := o.writeNodeKubeconfigs(auth, i); err != nil {
			return fmt.Errorf("make kubeconfigs of %s: %w", o.NodeName(i), err)
		}
	}
	if err := o.writeWorkerPKI(auth); err != nil {
		return fmt.Errorf("make certificates of the workers: %w", err)
	}
	return o.writeClients(auth)
}

func (o Options) writeNodePKI(auth authorities, i int) error {
	dir, name, ip := o.PKI(i), o.NodeName(i), net.ParseIP(o.NodeIP(i))
	loopback := net.IPv4(127, 0, 0, 1)
	copies := map[string]pki.Pair{
		"ca": auth.kubernetes.Pair, "etcd/ca": auth.etcd.Pair, "front-proxy-ca": auth.frontProxy.Pair,
	}
	for path, pair := range copies {
		if err := pair.Write(filepath.Join(dir, path)); err != nil {
			return err
		}
	}
	if err := auth.serviceAccounts.WritePublic(filepath.Join(dir, "sa")); err != nil {
		return err
	}
	etcdNames := []string{name, "localhost"}
	etcdIPs := []net.IP{ip, loopback}
	peerIPs := etcdIPs
	if o.PeerRelays {
		// A member sees its peers come from its own relay, and etcd wants them
		// to come from where their certificates say.
		for j := range o.EtcdMembers {
			peerIPs = append(peerIPs, net.ParseIP(o.NodeIP(j)))
		}
	}
	for _, leaf := range []struct {
		path string
		by   *pki.Authority
		leaf pki.Leaf
	}{
		{"apiserver", auth.kubernetes, pki.Leaf{
			CommonName: "kube-apiserver", Server: true,
			DNSNames: []string{name, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost"},
			IPs:      []net.IP{ip, net.ParseIP(serviceIP), loopback},
		}},
		{"apiserver-kubelet-client", auth.kubernetes, pki.Leaf{CommonName: "kube-apiserver-kubelet-client", Organizations: []string{"kubeadm:cluster-admins"}, Client: true}},
		{"apiserver-etcd-client", auth.etcd, pki.Leaf{CommonName: "kube-apiserver-etcd-client", Client: true}},
		{"front-proxy-client", auth.frontProxy, pki.Leaf{CommonName: "front-proxy-client", Client: true}},
		{"etcd/server", auth.etcd, pki.Leaf{CommonName: name, Server: true, Client: true, DNSNames: etcdNames, IPs: etcdIPs}},
		{"etcd/peer", auth.etcd, pki.Leaf{CommonName: name, Server: true, Client: true, DNSNames: etcdNames, IPs: peerIPs}},
		{"etcd/healthcheck-client", auth.etcd, pki.Leaf{CommonName: "kube-etcd-healthcheck-client", Client: true}},
		{"kubelet", auth.kubernetes, pki.Leaf{CommonName: name, Server: true, DNSNames: []string{name}, IPs: []net.IP{ip}}},
	} {
		if err := o.issue(leaf.by, leaf.leaf, filepath.Join(dir, leaf.path)); err != nil {
			return err
		}
	}
	return nil
}

// writeWorkerPKI makes the certificate that the workers' kubelet serves with.
func (o Options) writeWorkerPKI(auth authorities) error {
	leaf := pki.Leaf{CommonName: "workers", Server: true}
	for i := range o.Workers {
		leaf.DNSNames = append(leaf.DNSNames, o.WorkerName(i))
		leaf.IPs = append(leaf.IPs, net.ParseIP(o.WorkerIP(i)))
	}
	if err := o.issue(auth.kubernetes, leaf, filepath.Join(o.workerDir(), "kubelet")); err != nil {
		return err
	}
	return o.writeKubeconfig(filepath.Join(o.workerDir(), "kubelet.conf"), auth.kubernetes, 0, kubeletUser("workers"))
}

func (o Options) issue(by *pki.Authority, leaf pki.Leaf, path string) error {
	leaf.Validity = o.CertValidity
	pair, err := by.Issue(leaf)
	if err != nil {
		return err
	}
	return pair.Write(path)
}

// kubeletUser is who kwok is. A real kubelet's rights end at its own node's
// objects; kwok watches more than that, so it has a group of its own for its
// rights. The group system:nodes keeps its requests in the priority level of
// kubelets'.
func kubeletUser(node string) pki.Leaf {
	return pki.Leaf{CommonName: "lab:kubelet:" + node, Organizations: []string{"system:nodes", kubeletGroup}, Client: true}
}

const kubeletGroup = "lab:kubelets"

func (o Options) writeNodeKubeconfigs(auth authorities, i int) error {
	for file, user := range map[string]pki.Leaf{
		"admin.conf":              {CommonName: "kubernetes-admin", Organizations: []string{"kubeadm:cluster-admins"}, Client: true},
		"super-admin.conf":        {CommonName: "kubernetes-super-admin", Organizations: []string{"system:masters"}, Client: true},
		"controller-manager.conf": {CommonName: "system:kube-controller-manager", Client: true},
		"scheduler.conf":          {CommonName: "system:kube-scheduler", Client: true},
		"kubelet.conf":            kubeletUser(o.NodeName(i)),
	} {
		server := i
		if file == "kubelet.conf" {
			// kubeadm sends kubelets to the control plane's endpoint, so that one
			// outlives its node's own API server. Here that is the first.
			server = 0
		}
		if err := o.writeKubeconfig(filepath.Join(o.etcKubernetes(i), file), auth.kubernetes, server, user); err != nil {
			return err
		}
	}
	return nil
}

// writeClients makes what people and tools use from outside the nodes.
func (o Options) writeClients(auth authorities) error {
	admin := pki.Leaf{CommonName: "kubernetes-admin", Organizations: []string{"kubeadm:cluster-admins"}, Client: true}
	if err := o.writeKubeconfig(o.Kubeconfig(), auth.kubernetes, 0, admin); err != nil {
		return fmt.Errorf("make the administrator's kubeconfig: %w", err)
	}
	if err := o.writeKubeconfig(o.ReadOnlyKubeconfig(), auth.kubernetes, 0, pki.Leaf{CommonName: viewer, Client: true}); err != nil {
		return fmt.Errorf("make the viewer's kubeconfig: %w", err)
	}
	if err := o.issue(auth.etcd, pki.Leaf{CommonName: "kube-etcd-healthcheck-client", Client: true}, o.EtcdClient()); err != nil {
		return fmt.Errorf("make an etcd client's certificate: %w", err)
	}
	if err := os.WriteFile(o.EtcdCA(), auth.etcd.Cert, 0o644); err != nil {
		return err
	}
	return o.writeEnv()
}
