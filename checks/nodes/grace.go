package nodes

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

// After the grace period without a sign of life the controller manager calls a
// node Unknown. Source: kubernetes, --node-monitor-grace-period; raised in 1.32.
const (
	graceUntil131 = 40 * time.Second
	graceSince132 = 50 * time.Second
	graceSource   = "kubernetes --node-monitor-grace-period"
)

// grace is the cluster's own grace period: of the controller managers' command
// line, else of the version. The longer one holds where the version is not known.
func grace(p *checks.Pass) time.Duration {
	is, _ := checks.One(p, cluster.Instances)
	for _, i := range is {
		if d, err := time.ParseDuration(i.Flag("node-monitor-grace-period", "")); i.Role == cluster.RoleControllers && err == nil && d >= graceUntil131/2 {
			return d
		}
	}
	if v, gap := checks.One(p, cluster.Version); gap == nil && v.Major == 1 && v.Minor < 32 {
		return graceUntil131
	}
	return graceSince132
}

// graceNeeds are the facts that grace reads.
var graceNeeds = []collectors.Any{cluster.Version, cluster.Instances}

// each is how many nodes are reported one by one; of more, one finding tells.
const each = 5

// target is a node as a thing that is judged.
func target(name string) collectors.Target {
	return collectors.Target{Component: collectors.Nodes, Name: name, Node: name}
}

func names(ns []nodes.Node) []string {
	var out []string
	for _, n := range ns {
		out = append(out, n.Name)
	}
	return out
}

// now is the time by the API server's clock, as far as that is known.
func now(p *checks.Pass) time.Time {
	skew, _ := checks.One(p, cluster.Clock)
	return p.Now().Add(skew)
}
