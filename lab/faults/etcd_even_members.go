package faults

import "github.com/ktriage/ktriage/lab/cluster"

var etcdEvenMembers = Fault{
	Name:   "etcd-even-members",
	Doc:    "Etcd has two members: both are needed, so each is one more that can fail.",
	Want:   Problem{Check: "etcd-even-or-single"},
	Lab:    func(o *cluster.Options) { o.EtcdMembers = 2 },
	Inject: nothing,
	Wait:   healthy,
	Heal:   nothing,
}
