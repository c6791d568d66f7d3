package faults

import "github.com/ktriage/ktriage/lab/cluster"

var etcdMixedVersions = Fault{
	Name:   "etcd-mixed-versions",
	Doc:    "An upgrade of etcd was not finished: cp-3's member still runs the previous minor version.",
	Want:   Problem{Check: "etcd-version-skew"},
	Lab:    func(o *cluster.Options) { o.OldEtcd = 1 },
	Inject: nothing,
	Wait:   healthy,
	Heal:   nothing,
}
