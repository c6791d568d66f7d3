package etcd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A listing is the reply of etcd to a request for its members.
type listing struct {
	Header  header   `json:"header"`
	Members []listed `json:"members"`
}

type header struct {
	ClusterID uint64 `json:"cluster_id"`
	MemberID  uint64 `json:"member_id"`
	Revision  int64  `json:"revision"`
	RaftTerm  uint64 `json:"raft_term"`
}

type listed struct {
	ID         uint64   `json:"ID"`
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	IsLearner  bool     `json:"isLearner"`
}

// memberLists is what each endpoint that is known beforehand says of the
// members: those given by flags, else those of etcd's pods. The first that
// answers is believed.
var memberLists = &collectors.Fact[listing]{
	ID:    "etcd.member-lists",
	Doc:   "the member list, as each endpoint that is known beforehand gives it",
	Needs: []collectors.Any{HowReached, cluster.Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		var out []collectors.Target
		for _, e := range endpoints(s) {
			out = append(out, collectors.Target{Component: collectors.Etcd, Name: e, Addr: "etcd://" + e})
		}
		if len(out) > 0 {
			return out, nil
		}
		if _, gap := cluster.InRole(s, cluster.RoleEtcd); gap != nil {
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
		pods, _ := cluster.InRole(s, cluster.RoleEtcd)
		for _, p := range pods {
			urls = append(urls, clientURL(p))
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
			if h, _, err := net.SplitHostPort(hostPort(u)); err == nil && h != "127.0.0.1" && h != "localhost" && h != "0.0.0.0" {
				return u
			}
		}
	}
	if p.HostIP == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(p.HostIP, "2379")
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

// A Member is one etcd member, as far as the member list and the pods tell.
type Member struct {
	Name    string // the member's name; for one that never started, its peer's address
	ID      uint64 // 0 if the member list could not be had
	Node    string
	Listed  bool     // the cluster's own list has it
	Started bool     // it has told the cluster its name
	Learner bool     // it has no vote
	Client  string   // host:port for clients; empty if it never started
	Pod     string   // namespace/name of its pod; empty if none is known
	PodDown string   // why its pod does not run; empty if it runs or is not known
	Metrics []string // front parts of the URLs of its metrics, the likeliest first
}

// Membership is who belongs to the etcd cluster.
type Membership struct {
	ID      uint64 // of the cluster
	Members []Member
	// Listed says that the members come from etcd itself. Otherwise they are
	// its pods, and why holds why it could not be asked.
	Listed bool
	Why    *collectors.Gap
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
	Needs:   []collectors.Any{memberLists, HowReached, cluster.Instances, cluster.NodeSummary},
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
		why := collectors.Gapf(collectors.NotAsked, "no endpoint of etcd is known")
		if len(lists) > 0 {
			why = lists[0].Gap
		}
		if podGap != nil {
			return Membership{}, why
		}
		return fromPods(pods, why), nil
	},
}

func fromList(l listing, pods []cluster.Instance, nodes cluster.Nodes) Membership {
	m := Membership{ID: l.Header.ClusterID, Listed: true}
	for _, x := range l.Members {
		o := Member{Name: x.Name, ID: x.ID, Listed: true, Started: x.Name != "", Learner: x.IsLearner}
		if len(x.ClientURLs) > 0 {
			o.Client = hostPort(x.ClientURLs[0])
		}
		var hosts []string
		for _, u := range slices.Concat(x.PeerURLs, x.ClientURLs) {
			if h, _, err := net.SplitHostPort(hostPort(u)); err == nil {
				hosts = append(hosts, h)
			}
		}
		if o.Name == "" && len(x.PeerURLs) > 0 {
			o.Name = hostPort(x.PeerURLs[0])
		}
		for _, h := range hosts {
			o.Node = cmp.Or(o.Node, nodes.Addresses[h])
		}
		for _, p := range pods {
			if p.Flag("name", "") == x.Name && x.Name != "" || slices.Contains(hosts, p.HostIP) {
				o.setPod(p)
			}
		}
		if len(x.ClientURLs) > 0 {
			// The client port serves the same metrics, to who has a client certificate.
			o.Metrics = append(o.Metrics, "etcd://"+o.Client)
		}
		m.Members = append(m.Members, o)
	}
	return m
}

func fromPods(pods []cluster.Instance, why *collectors.Gap) Membership {
	m := Membership{Why: why}
	for _, p := range pods {
		o := Member{Name: p.Flag("name", p.Name()), Started: true, Client: hostPort(clientURL(p))}
		o.setPod(p)
		m.Members = append(m.Members, o)
	}
	return m
}

func (m *Member) setPod(p cluster.Instance) {
	m.Node, m.Pod = p.Node, p.Namespace+"/"+p.Pod
	if !p.Ready {
		m.PodDown = cmp.Or(p.Waiting, "not ready")
	}
	if u, err := url.Parse(strings.Split(p.Flag("listen-metrics-urls", ""), ",")[0]); err == nil && u.Port() != "" {
		m.Metrics = append(m.Metrics, p.PodURL(u.Scheme, u.Port()))
	}
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
			out = append(out, collectors.Target{Component: collectors.Etcd, Name: x.Name, Node: x.Node})
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

func readJSON[T any](rs []collectors.Answered) (v T, err error) {
	if err := json.Unmarshal(rs[0].Body, &v); err != nil {
		return v, fmt.Errorf("%s: %w", rs[0].From, err)
	}
	return v, nil
}
