package etcd

import (
	"net"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A listing is the reply of etcd to a request for its members.
type listing struct {
	Header  header   `json:"header"`
	Members []listed `json:"members"`
}

type listed struct {
	ID         number64 `json:"ID"`
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	IsLearner  bool     `json:"isLearner"`
}

// memberLists is what each endpoint that is known beforehand says of the
// members: those given by flags, else those of etcd's pods, else those that
// the API servers use. The first that answers is believed.
var memberLists = &collectors.Fact[listing]{
	ID:    "etcd.member-lists",
	Doc:   "the member list, as each endpoint that is known beforehand gives it",
	Needs: []collectors.Any{HowReached, cluster.WhatKind, cluster.Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		var out []collectors.Target
		for _, e := range endpoints(s) {
			out = append(out, collectors.Target{Component: collectors.Etcd, Name: e, Addr: "etcd://" + e})
		}
		if len(out) > 0 {
			return out, nil
		}
		if _, gap := cluster.InRole(s, cluster.RoleEtcd); gap != nil {
			if gap.Reason == collectors.OutOfScope { // there are no members to name, or they are somebody else's
				return nil, gap
			}
			return nil, gap.With("name them: --etcd-endpoints, --etcd-cacert, --etcd-cert, --etcd-key")
		}
		return nil, collectors.Gapf(collectors.Absent, "etcd's pods do not say where they listen").With("name the endpoints: --etcd-endpoints")
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Call, URL: t.Addr + "/member/list", Or: []string{t.Addr + "/member/list?serializable=true"}}}
	},
	Read: readJSON[listing],
}

// endpoints returns host:port of the endpoints that are known beforehand.
func endpoints(s *collectors.Snapshot) []string {
	var urls []string
	if a, gap := HowReached.One(s); gap == nil {
		urls = a.Endpoints
	}
	if len(urls) == 0 {
		pods, gap := cluster.InRole(s, cluster.RoleEtcd)
		for _, p := range pods {
			urls = append(urls, clientURL(p))
		}
		if gap != nil && gap.Reason == collectors.Absent {
			urls = apiServersEtcd(s)
		}
	}
	var out []string
	for _, u := range urls {
		if h := hostPort(u); h != "" {
			out = append(out, h)
		}
	}
	return out
}

// clientURL is where a pod's etcd says that clients reach it.
func clientURL(p cluster.Instance) string {
	for _, flag := range []string{"advertise-client-urls", "listen-client-urls"} {
		for u := range strings.SplitSeq(p.Flag(flag, ""), ",") {
			if usable(u) {
				return u
			}
		}
	}
	if p.HostIP == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(p.HostIP, "2379")
}

// usable reports whether a URL, or a bare host:port, leads to one place from
// anywhere. OpenShift's command lines have shell variables in them.
func usable(u string) bool {
	h, _, err := net.SplitHostPort(hostPort(u))
	if err != nil || h == "" || h == "localhost" || strings.ContainsAny(h, "$(){}") {
		return false
	}
	ip := net.ParseIP(h)
	return ip == nil || !ip.IsLoopback() && !ip.IsUnspecified()
}

// hostPort returns host:port of a URL, or of a bare host:port.
func hostPort(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	u, _, _ = strings.Cut(u, "/")
	if u != "" && !strings.Contains(u[strings.LastIndex(u, "]")+1:], ":") {
		u = net.JoinHostPort(strings.Trim(u, "[]"), "2379")
	}
	return u
}
