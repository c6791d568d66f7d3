// Package suite lists every check.
package suite

import (
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/apiserver"
	"github.com/ktriage/ktriage/checks/certificates"
	"github.com/ktriage/ktriage/checks/controllers"
	"github.com/ktriage/ktriage/checks/etcd"
	"github.com/ktriage/ktriage/checks/host"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/checks/logs"
	"github.com/ktriage/ktriage/checks/namespaces"
	"github.com/ktriage/ktriage/checks/nodes"
	"github.com/ktriage/ktriage/checks/pods"
	"github.com/ktriage/ktriage/checks/scheduler"
	"github.com/ktriage/ktriage/checks/topology"
	"github.com/ktriage/ktriage/checks/webhooks"
	"github.com/ktriage/ktriage/checks/workloads"
	"github.com/ktriage/ktriage/collectors"
)

// groups lists the checks of each package. Retired IDs stay as comments with
// the date and the reason.
var groups = [][]*checks.Check{
	etcd.All,
	apiserver.All,
	scheduler.All,
	controllers.All,
	leases.All,
	logs.All,
	pods.All,
	namespaces.All,
	nodes.All,
	workloads.All,
	webhooks.All,
	certificates.All,
	topology.All,
	host.All,
}

// All returns every check, sorted by ID.
func All() []*checks.Check {
	out := slices.Concat(groups...)
	slices.SortFunc(out, func(a, b *checks.Check) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// OnNode keeps those of the checks that a node can be judged by that is looked at
// from within, without the API: those of the node itself, of the certificates
// in its files, and of its components' logs.
func OnNode(cs []*checks.Check) []*checks.Check {
	return slices.DeleteFunc(slices.Clone(cs), func(c *checks.Check) bool {
		return c.Component != collectors.Host && c != certificates.FilesExpiring && !slices.Contains(logs.All, c)
	})
}

// OfCluster leaves out those that need a look at a node from within.
func OfCluster(cs []*checks.Check) []*checks.Check {
	return slices.DeleteFunc(slices.Clone(cs), func(c *checks.Check) bool { return slices.Contains(host.All, c) })
}
