package collectors

import (
	"cmp"
	"encoding/json"
	"strings"
)

// A Component is a part of the control plane, or what it looks after.
type Component string

// The components, in the order in which reports show them.
const (
	Etcd         Component = "etcd"
	APIServer    Component = "apiserver"
	Scheduler    Component = "scheduler"
	Controllers  Component = "controllers" // the kube-controller-manager and what it reconciles
	Leases       Component = "leases"
	Pods         Component = "pods"
	Nodes        Component = "nodes"
	Webhooks     Component = "webhooks"
	Certificates Component = "certificates"
	Topology     Component = "topology"
	Host         Component = "host"
	Cluster      Component = "cluster"
)

// Components lists every component in the order of a report.
var Components = []Component{Etcd, APIServer, Scheduler, Controllers, Leases, Pods, Nodes, Webhooks, Certificates, Topology, Host, Cluster}

// A Target is one thing that can be asked and judged: an etcd member, an API
// server instance, a lease.
type Target struct {
	Component Component
	Name      string // what its operator calls it: "cp-1", "kube-system/kube-scheduler"; empty for the component as a whole
	Node      string // the node it runs on, where that is known; links between findings are made on it
	Addr      string // where it answers, as the front part of a Request's URL; empty if nothing is asked of it
}

// String returns the target as reports and recordings name it: "etcd/cp-1".
func (t Target) String() string {
	if t.Name == "" {
		return string(t.Component)
	}
	return string(t.Component) + "/" + t.Name
}

// Is reports whether t and u are the same thing, whatever way each is reached.
func (t Target) Is(u Target) bool { return t.Component == u.Component && t.Name == u.Name }

// MarshalJSON writes the target as its string.
func (t Target) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads a target's string. Node and Addr are not part of it.
func (t *Target) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	c, name, _ := strings.Cut(s, "/")
	*t = Target{Component: Component(c), Name: name}
	return nil
}

// CompareTargets orders targets by component, then by name.
func CompareTargets(a, b Target) int {
	return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Name, b.Name))
}
