package faults

import "github.com/ktriage/ktriage/lab/cluster"

var twoAPIServers = Fault{
	Name:   "two-api-servers",
	Doc:    "Three control-plane nodes, with an API server on two of them, each of which talks to its own node's etcd.",
	Lab:    func(o *cluster.Options) { o.APIServers, o.StackedEtcd = 2, true },
	Inject: nothing,
	Wait:   healthy,
	Heal:   nothing,
}
