// Package cluster runs a real control plane that looks as kubeadm would have
// made it: every control-plane node has its own network, files and static pods,
// and its processes listen on the ports they have everywhere.
package cluster

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ktriage/ktriage/lab/build"
)

// DirEnv names the folder a lab runs in, for those who want another one than
// the default, or two labs.
const DirEnv = "KTRIAGE_LAB_DIR"

// Options say what a lab consists of. The zero value of a number means the
// default; Bare and StackedEtcd are off by default.
type Options struct {
	// Dir holds everything of the lab: keys, data, logs, kubeconfigs.
	Dir string
	// Index tells labs on one machine apart: it is in the names of their
	// networks and in their addresses. Up takes the next free one.
	Index int

	// Kubernetes is the line of Kubernetes, such as 1.34; empty means the default.
	Kubernetes string

	ControlPlanes      int
	EtcdMembers        int
	APIServers         int
	ControllerManagers int
	Schedulers         int
	Workers            int

	// StackedEtcd lets each API server talk to the etcd member of its own node
	// only, as kubeadm does. Off, each knows all members, as with external etcd:
	// with a single API server, one lost member would be a lost cluster.
	StackedEtcd bool
	// OldEtcd is how many members, the last ones, run the previous minor version
	// of etcd.
	OldEtcd int
	// PeerRelays puts a relay before each etcd member, through which its peers
	// speak to it, so that they can be delayed.
	PeerRelays bool
	// RealDisk puts etcd's data on this machine's disk. Off, each member has a
	// disk in memory, which nobody else keeps busy.
	RealDisk bool
	// CertValidity is that of all certificates but the authorities'.
	CertValidity time.Duration
	// ExtraArgs sets flags by component ("etcd", "kube-apiserver", …), in
	// place of the lab's own where both name a flag.
	ExtraArgs map[string]map[string]string
	// Bare leaves the example workload out.
	Bare bool
}

// SetArg sets a flag of a component, and leaves other copies of o as they are.
func (o *Options) SetArg(kind Kind, name, value string) {
	args := maps.Clone(o.ExtraArgs)
	if args == nil {
		args = map[string]map[string]string{}
	}
	flags := maps.Clone(args[string(kind)])
	if flags == nil {
		flags = map[string]string{}
	}
	flags[name] = value
	args[string(kind)] = flags
	o.ExtraArgs = args
}

// Versions are those of the lab's programs.
func (o Options) Versions() build.Versions {
	v, err := build.Find(o.Kubernetes)
	if err != nil {
		return build.Versions{Kubernetes: o.Kubernetes} // validate refuses it
	}
	return v
}

// maxIndex keeps the labs' networks (10.77 and up) away from the services'
// range (10.96).
const maxIndex = 9

// kubeadmCertValidity is how long kubeadm's certificates last: one year.
const kubeadmCertValidity = 365 * 24 * time.Hour

// DefaultDir is the folder of the lab that is meant when nobody names one.
func DefaultDir() string {
	if dir := os.Getenv(DirEnv); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "ktriage-lab")
}

// withDefaults fills in what was left open.
func (o Options) withDefaults() Options {
	if o.Dir == "" {
		o.Dir = DefaultDir()
	}
	for field, value := range map[*int]int{&o.ControlPlanes: 3, &o.Workers: 5, &o.APIServers: 1} {
		if *field == 0 {
			*field = value
		}
	}
	if o.EtcdMembers == 0 {
		o.EtcdMembers = o.ControlPlanes
	}
	for _, field := range []*int{&o.ControllerManagers, &o.Schedulers} {
		if *field == 0 {
			*field = min(2, o.ControlPlanes)
		}
	}
	if o.CertValidity == 0 {
		o.CertValidity = kubeadmCertValidity
	}
	return o
}

func (o Options) validate() error {
	if !filepath.IsAbs(o.Dir) {
		return fmt.Errorf("lab folder %q is not an absolute path", o.Dir)
	}
	if _, err := build.Find(o.Kubernetes); err != nil {
		return err
	}
	if o.Index < 0 || o.Index > maxIndex {
		return fmt.Errorf("lab index %d is not between 0 and %d", o.Index, maxIndex)
	}
	for what, n := range map[string]int{
		"etcd members": o.EtcdMembers, "API servers": o.APIServers,
		"controller managers": o.ControllerManagers, "schedulers": o.Schedulers,
	} {
		if n < 1 || n > o.ControlPlanes {
			return fmt.Errorf("%d %s on %d control-plane nodes: want one a node at most", n, what, o.ControlPlanes)
		}
	}
	if o.OldEtcd < 0 || o.OldEtcd > o.EtcdMembers {
		return fmt.Errorf("%d of %d etcd members of an old version", o.OldEtcd, o.EtcdMembers)
	}
	for kind := range o.ExtraArgs {
		if !slices.Contains(kinds(), Kind(kind)) {
			return fmt.Errorf("flags of %q: want one of %v", kind, kinds())
		}
	}
	if o.StackedEtcd && o.APIServers > o.EtcdMembers {
		return fmt.Errorf("%d API servers with local etcd, but %d etcd members", o.APIServers, o.EtcdMembers)
	}
	return nil
}
