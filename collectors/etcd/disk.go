package etcd

import (
	"encoding/json"
	"net"
	"net/url"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Disk is the file system that holds a member's database, in bytes.
type Disk struct {
	Free int64 `json:"free"` // that root may still use
	Size int64 `json:"size"`
}

// DataDisk is the file system under each member's database, of those members
// that run on this machine. Of others it is out of scope.
var DataDisk = &collectors.Fact[Disk]{
	ID:      "etcd.data-disk",
	Doc:     "how much room there is beside the database of each member that runs on this machine",
	Needs:   []collectors.Any{Members, cluster.WhatKind, cluster.Instances},
	Targets: MemberTargets,
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		m := member(s, t)
		host, _, _ := net.SplitHostPort(m.Client)
		dir := "/var/lib/etcd"
		pods, _ := cluster.InRole(s, cluster.RoleEtcd)
		for _, p := range pods {
			if p.Namespace+"/"+p.Pod == m.Pod {
				dir = p.Flag("data-dir", dir)
			}
		}
		return []collectors.Request{{Verb: collectors.Get, URL: "config:" + (&url.URL{Path: "/disk/" + host + dir}).EscapedPath()}}
	},
	Read: func(rs []collectors.Answered) (d Disk, err error) {
		err = json.Unmarshal(rs[0].Body, &d)
		return d, err
	},
}
