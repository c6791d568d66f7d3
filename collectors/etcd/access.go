package etcd

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Cluster is the target of facts about etcd as a whole.
var Cluster = collectors.Target{Component: collectors.Etcd}

// Remedy is what gives a run the client certificate that etcd's gRPC API wants.
const Remedy = "give a client certificate for etcd: --etcd-endpoints, --etcd-cacert, --etcd-cert and --etcd-key"

// An Access is what this run was given to reach etcd with.
type Access struct {
	Endpoints       []string `json:"endpoints"`       // as given by flag or environment; empty if they were not
	EndpointsFrom   string   `json:"endpointsFrom"`   // where they were found
	Credentials     bool     `json:"credentials"`     // whether there is a client certificate
	CredentialsFrom string   `json:"credentialsFrom"` // where it was found
	Tried           []string `json:"tried"`           // where it was looked for

	Client *collectors.Cert  `json:"client"` // the client certificate; nil without one, or in a recording of before
	CA     []collectors.Cert `json:"ca"`     // what it is told to trust
}

// HowReached tells which endpoints and credentials the run has for etcd. The
// command lines of etcd's pods, and of the API servers where etcd runs outside
// the cluster, are hints where to look.
var HowReached = &collectors.Fact[Access]{
	ID:      "etcd.access",
	Doc:     "which endpoints and client certificate this run has for etcd",
	Needs:   []collectors.Any{cluster.WhatKind, cluster.Instances},
	Targets: collectors.Single(Cluster),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		u := "config:/etcd"
		if h := hints(s); len(h) > 0 {
			u += "?" + h.Encode()
		}
		return []collectors.Request{{Verb: collectors.Get, URL: u}}
	},
	Read: func(rs []collectors.Answered) (a Access, err error) {
		err = json.Unmarshal(rs[0].Body, &a)
		return a, err
	},
}

// hints lists where a client certificate may lie, and the endpoints of an etcd
// that has no pods.
func hints(s *collectors.Snapshot) url.Values {
	h := url.Values{}
	add := func(key, value string) {
		if value != "" && !slices.Contains(h[key], value) {
			h.Add(key, value)
		}
	}
	pods, _ := cluster.InRole(s, cluster.RoleEtcd)
	for _, p := range pods {
		add("cacert", p.Flag("trusted-ca-file", ""))
		add("cert", p.Flag("cert-file", ""))
		add("key", p.Flag("key-file", ""))
	}
	if len(pods) > 0 {
		return h
	}
	for _, u := range apiServersEtcd(s) {
		add("endpoints", u)
	}
	apis, _ := cluster.InRole(s, cluster.RoleAPIServer)
	for _, p := range apis {
		add("cacert", p.Flag("etcd-cafile", ""))
		add("cert", p.Flag("etcd-certfile", ""))
		add("key", p.Flag("etcd-keyfile", ""))
	}
	return h
}

// apiServersEtcd lists the etcd URLs on the API servers' command lines. A
// loopback address means another etcd on each node, and says nothing here.
func apiServersEtcd(s *collectors.Snapshot) []string {
	var out []string
	apis, _ := cluster.InRole(s, cluster.RoleAPIServer)
	for _, p := range apis {
		for u := range strings.SplitSeq(p.Flag("etcd-servers", ""), ",") {
			if usable(u) && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	slices.Sort(out)
	return out
}
