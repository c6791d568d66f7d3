package etcd

import (
	"encoding/json"
	"net/url"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Cluster is the target of facts about etcd as a whole.
var Cluster = collectors.Target{Component: collectors.Etcd}

// An Access is what this run was given to reach etcd with.
type Access struct {
	Endpoints       []string `json:"endpoints"`       // as given by flag or environment; empty if they were not
	EndpointsFrom   string   `json:"endpointsFrom"`   // where they were found
	Credentials     bool     `json:"credentials"`     // whether there is a client certificate
	CredentialsFrom string   `json:"credentialsFrom"` // where it was found
	Tried           []string `json:"tried"`           // where it was looked for
}

// HowReached tells which endpoints and credentials the run has for etcd. The
// paths on the command lines of etcd's pods are hints where to look.
var HowReached = &collectors.Fact[Access]{
	ID:      "etcd.access",
	Doc:     "which endpoints and client certificate this run has for etcd",
	Needs:   []collectors.Any{cluster.Instances},
	Targets: collectors.Single(Cluster),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		hints := url.Values{}
		pods, _ := cluster.InRole(s, cluster.RoleEtcd)
		seen := map[string]bool{}
		for _, p := range pods {
			for flag, hint := range map[string]string{"trusted-ca-file": "cacert", "cert-file": "cert", "key-file": "key"} {
				if v := p.Flag(flag, ""); v != "" && !seen[hint+v] {
					seen[hint+v] = true
					hints.Add(hint, v)
				}
			}
		}
		u := "config:/etcd"
		if len(hints) > 0 {
			u += "?" + hints.Encode()
		}
		return []collectors.Request{{Verb: collectors.Get, URL: u}}
	},
	Read: func(rs []collectors.Answered) (a Access, err error) {
		err = json.Unmarshal(rs[0].Body, &a)
		return a, err
	},
}
