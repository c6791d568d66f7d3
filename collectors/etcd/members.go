package etcd

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Member is one etcd member, as far as the member list and the pods tell.
type Member struct {
	Name    string // unlike every other's; of one that never started, its peer's address
	ID      uint64 // 0 if the member list could not be had
	Node    string
	Listed  bool      // the cluster's own list has it
	Started bool      // it has told the cluster its name
	Learner bool      // it has no vote
	Client  string    // host:port for clients; empty if it never started
	Peer    string    // host:port for other members; empty if it is not known
	Pod     string    // namespace/name of its pod; empty if none is known
	Waiting string    // why its container does not run: "CrashLoopBackOff"
	Ready   bool      // its pod is ready; false where no pod is known
	Unready time.Time // since when its pod is not ready; zero if it is, or if that is not known
	Metrics []string  // front parts of the URLs of its metrics, the likeliest first
}

// Membership is who belongs to the etcd cluster.
type Membership struct {
	ID      uint64 // of the cluster
	Members []Member
	// Listed says that the members come from etcd itself. Otherwise they are
	// its pods, and Why holds why it could not be asked.
	Listed bool
	Why    *collectors.Gap
	// Loose says that some members are known only by something they said,
	// out of loose evidence: how many there are besides is not known.
	Loose bool
}

// Voters counts the members that have a vote. An unstarted member has one.
func (m Membership) Voters() int {
	n := 0
	for _, x := range m.Members {
		if !x.Learner {
			n++
		}
	}
	return n
}

// Quorum is how many voters must agree.
func (m Membership) Quorum() int { return m.Voters()/2 + 1 }

// Members tells who belongs to the cluster: by etcd's own list if any endpoint
// gives it, else by the pods.
var Members = &collectors.Fact[Membership]{
	ID:      "etcd.members",
	Doc:     "who belongs to the etcd cluster",
	Needs:   []collectors.Any{memberLists, HowReached, cluster.WhatKind, cluster.Instances, cluster.NodeSummary},
	Targets: collectors.Single(Cluster),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Membership, error) {
		pods, podGap := cluster.InRole(s, cluster.RoleEtcd)
		nodes, _ := cluster.NodeSummary.One(s)
		lists, gap := memberLists.Answers(s)
		if gap != nil {
			return Membership{}, gap
		}
		for _, l := range lists {
			if l.Gap == nil && len(l.Value.Members) > 0 {
				return fromList(l.Value, pods, nodes), nil
			}
		}
		why := collectors.Gapf(collectors.Malformed, "etcd lists no members")
		for _, l := range lists {
			if l.Gap != nil {
				why = l.Gap
				break
			}
		}
		if podGap != nil {
			return Membership{}, why.With(cmp.Or(why.Remedy, Remedy))
		}
		return fromPods(pods, why), nil
	},
}

func fromList(l listing, pods []cluster.Instance, nodes cluster.Nodes) Membership {
	m := Membership{ID: uint64(l.Header.ClusterID), Listed: true}
	for _, x := range l.Members {
		o := Member{Name: x.Name, ID: uint64(x.ID), Listed: true, Started: x.Name != "", Learner: x.IsLearner}
		for _, u := range x.ClientURLs {
			if o.Client == "" || usable(u) && !usable(o.Client) {
				o.Client = hostPort(u)
			}
		}
		for _, u := range x.PeerURLs {
			if o.Peer == "" && usable(u) {
				o.Peer = hostPort(u)
			}
		}
		var hosts []string
		for _, u := range slices.Concat(x.PeerURLs, x.ClientURLs) {
			if h, _, err := net.SplitHostPort(hostPort(u)); err == nil && usable(u) {
				hosts = append(hosts, h)
			}
		}
		if o.Name == "" && len(x.PeerURLs) > 0 {
			o.Name = hostPort(x.PeerURLs[0])
		}
		for _, h := range hosts {
			o.Node = cmp.Or(o.Node, nodes.Addresses[h])
		}
		if p, ok := podOf(x.Name, hosts, pods); ok {
			o.setPod(p)
		}
		if o.Client != "" {
			// The client port serves the same metrics, to who has a client certificate.
			o.Metrics = append(o.Metrics, "etcd://"+o.Client)
		}
		m.Members = append(m.Members, o)
	}
	m.tellApart()
	return m
}

// podOf finds the pod of a member: by its name, else by an address of its.
func podOf(name string, hosts []string, pods []cluster.Instance) (cluster.Instance, bool) {
	for _, p := range pods {
		if name != "" && p.Flag("name", "") == name {
			return p, true
		}
	}
	for _, p := range pods {
		if slices.ContainsFunc(hosts, func(h string) bool { return sameHost(h, p.HostIP) }) {
			return p, true
		}
	}
	return cluster.Instance{}, false
}

// sameHost compares addresses: IPv6 has many spellings of one.
func sameHost(a, b string) bool {
	x, y := net.ParseIP(a), net.ParseIP(b)
	return a == b || x != nil && x.Equal(y)
}

func fromPods(pods []cluster.Instance, why *collectors.Gap) Membership {
	m := Membership{Why: why}
	for _, p := range pods {
		o := Member{Name: p.Flag("name", ""), Started: true, Client: hostPort(clientURL(p))}
		if o.Name == "" || strings.ContainsAny(o.Name, "$(){}") {
			o.Name = p.Name()
		}
		o.setPod(p)
		m.Members = append(m.Members, o)
		m.Loose = m.Loose || p.MadeUp
	}
	m.tellApart()
	return m
}

// tellApart gives members that share a name, as those started without --name
// may, names of their own: targets are told apart by name.
func (m *Membership) tellApart() {
	count := map[string]int{}
	for _, x := range m.Members {
		count[x.Name]++
	}
	for i := range m.Members {
		x := &m.Members[i]
		switch {
		case count[x.Name] < 2 && x.Name != "":
		case x.ID != 0:
			x.Name = strings.TrimPrefix(fmt.Sprintf("%s@%x", x.Name, x.ID), "@")
		default:
			x.Name += "@" + cmp.Or(x.Pod, x.Client, strconv.Itoa(i))
		}
	}
}

func (m *Member) setPod(p cluster.Instance) {
	m.Node, m.Pod = cmp.Or(p.Node, m.Node), p.Namespace+"/"+p.Pod
	m.Waiting, m.Ready, m.Unready = p.Waiting, p.Ready, p.Unready
	for u := range strings.SplitSeq(p.Flag("initial-advertise-peer-urls", ""), ",") {
		if m.Peer == "" && usable(u) {
			m.Peer = hostPort(u)
		}
	}
	for u := range strings.SplitSeq(p.Flag("listen-metrics-urls", ""), ",") {
		scheme, rest, ok := strings.Cut(u, "://")
		port := rest[strings.LastIndex(rest, ":")+1:]
		if _, err := strconv.ParseUint(port, 10, 16); ok && err == nil && (scheme == "http" || scheme == "https") {
			if pu := p.PodURL(scheme, port); !slices.Contains(m.Metrics, pu) {
				m.Metrics = append(m.Metrics, pu)
			}
		}
	}
}

// Target is the member as a target.
func (m Member) Target() collectors.Target {
	return collectors.Target{Component: collectors.Etcd, Name: m.Name, Node: m.Node}
}

// MemberTargets are the members as targets; those that never started and
// cannot be asked are left out.
func MemberTargets(s *collectors.Snapshot) ([]collectors.Target, error) {
	m, gap := Members.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []collectors.Target
	for _, x := range m.Members {
		if x.Started {
			out = append(out, x.Target())
		}
	}
	return out, nil
}

// member returns the member of a target.
func member(s *collectors.Snapshot, t collectors.Target) Member {
	m, _ := Members.One(s)
	for _, x := range m.Members {
		if x.Name == t.Name {
			return x
		}
	}
	panic(fmt.Sprintf("%s is not a member", t))
}
