package faults

import "github.com/ktriage/ktriage/lab/cluster"

var singleNode = Fault{
	Name: "single-node",
	Doc:  "The control plane is one node, with one of each component.",
	Lab: func(o *cluster.Options) {
		o.ControlPlanes, o.EtcdMembers, o.APIServers, o.ControllerManagers, o.Schedulers = 1, 1, 1, 1, 1
	},
	Inject: nothing,
	Wait:   healthy,
	Heal:   nothing,
}
