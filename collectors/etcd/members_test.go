package etcd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// pod makes an etcd pod of kubeadm's on a node.
func pod(node, ip string, flags map[string]string) cluster.Instance {
	f := map[string]string{"name": node, "advertise-client-urls": "https://" + ip + ":2379", "listen-metrics-urls": "http://127.0.0.1:2381"}
	for k, v := range flags {
		f[k] = v
	}
	return cluster.Instance{Role: cluster.RoleEtcd, Namespace: "kube-system", Pod: "etcd-" + node, Node: node, HostIP: ip, Flags: f, Ready: true}
}

func list(t *testing.T, body string) listing {
	t.Helper()
	var l listing
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMembersFromTheListAndThePods(t *testing.T) {
	tests := []struct {
		name  string
		list  string
		pods  []cluster.Instance
		nodes cluster.Nodes
		want  []Member
	}{
		{
			"members are paired with their pods by name",
			`{"header":{"cluster_id":7},"members":[{"ID":1,"name":"cp-1","peerURLs":["https://10.0.0.11:2380"],"clientURLs":["https://10.0.0.11:2379"]}]}`,
			[]cluster.Instance{pod("cp-1", "10.0.0.11", nil)},
			cluster.Nodes{},
			[]Member{{
				Name: "cp-1", ID: 1, Node: "cp-1", Listed: true, Started: true, Client: "10.0.0.11:2379", Peer: "10.0.0.11:2380", Pod: "kube-system/etcd-cp-1", Ready: true,
				Metrics: []string{"pod+http://cp-1@kube-system/etcd-cp-1:2381", "etcd://10.0.0.11:2379"},
			}},
		},
		{
			"a member whose name is not its node's is paired by its address",
			`{"members":[{"ID":1,"name":"infra0","peerURLs":["https://10.0.0.11:2380"],"clientURLs":["https://10.0.0.11:2379"]}]}`,
			[]cluster.Instance{pod("cp-1", "10.0.0.11", map[string]string{"name": "$(ETCD_NAME)"})},
			cluster.Nodes{},
			[]Member{{
				Name: "infra0", ID: 1, Node: "cp-1", Listed: true, Started: true, Client: "10.0.0.11:2379", Peer: "10.0.0.11:2380", Pod: "kube-system/etcd-cp-1", Ready: true,
				Metrics: []string{"pod+http://cp-1@kube-system/etcd-cp-1:2381", "etcd://10.0.0.11:2379"},
			}},
		},
		{
			"a member that never started has its peer's address for a name, and no client URL",
			`{"members":[{"ID":9,"name":"","peerURLs":["https://10.0.0.14:2380"]}]}`,
			nil, cluster.Nodes{Addresses: map[string]string{"10.0.0.14": "cp-4"}},
			[]Member{{Name: "10.0.0.14:2380", ID: 9, Node: "cp-4", Listed: true, Peer: "10.0.0.14:2380"}},
		},
		{
			"a learner is a member without a vote",
			`{"members":[{"ID":3,"name":"cp-3","isLearner":true,"peerURLs":["https://10.0.0.13:2380"],"clientURLs":["https://10.0.0.13:2379"]}]}`,
			nil, cluster.Nodes{},
			[]Member{{Name: "cp-3", ID: 3, Listed: true, Started: true, Learner: true, Client: "10.0.0.13:2379", Peer: "10.0.0.13:2380", Metrics: []string{"etcd://10.0.0.13:2379"}}},
		},
		{
			"external etcd without pods is asked at its client URLs, the first that is not loopback",
			`{"members":[{"ID":1,"name":"etcd1","peerURLs":["https://etcd1.example:2380"],"clientURLs":["https://127.0.0.1:2379","https://etcd1.example:2379"]}]}`,
			nil, cluster.Nodes{},
			[]Member{{Name: "etcd1", ID: 1, Listed: true, Started: true, Client: "etcd1.example:2379", Peer: "etcd1.example:2380", Metrics: []string{"etcd://etcd1.example:2379"}}},
		},
		{
			"IPv6 addresses keep their brackets, and are the same however they are written",
			`{"members":[{"ID":1,"name":"x","peerURLs":["https://[fd00:0:0::11]:2380"],"clientURLs":["https://[fd00:0:0::11]:2379"]}]}`,
			[]cluster.Instance{pod("cp-1", "fd00::11", map[string]string{"name": "other"})},
			cluster.Nodes{},
			[]Member{{
				Name: "x", ID: 1, Node: "cp-1", Listed: true, Started: true, Client: "[fd00:0:0::11]:2379", Peer: "[fd00:0:0::11]:2380", Pod: "kube-system/etcd-cp-1", Ready: true,
				Metrics: []string{"pod+http://cp-1@kube-system/etcd-cp-1:2381", "etcd://[fd00:0:0::11]:2379"},
			}},
		},
		{
			"members that share a name are told apart by ID",
			`{"members":[{"ID":10,"name":"default","clientURLs":["http://10.0.0.1:2379"]},{"ID":11,"name":"default","clientURLs":["http://10.0.0.2:2379"]}]}`,
			nil, cluster.Nodes{},
			[]Member{
				{Name: "default@a", ID: 10, Listed: true, Started: true, Client: "10.0.0.1:2379", Metrics: []string{"etcd://10.0.0.1:2379"}},
				{Name: "default@b", ID: 11, Listed: true, Started: true, Client: "10.0.0.2:2379", Metrics: []string{"etcd://10.0.0.2:2379"}},
			},
		},
		{
			"IDs that a gateway wrote as strings are read as well, up to the last digit",
			`{"members":[{"ID":"18446744073709551615","name":"a","clientURLs":["https://a:2379"]}]}`,
			nil, cluster.Nodes{},
			[]Member{{Name: "a", ID: 1<<64 - 1, Listed: true, Started: true, Client: "a:2379", Metrics: []string{"etcd://a:2379"}}},
		},
		{
			"a pod that crashes says why",
			`{"members":[{"ID":1,"name":"cp-1","clientURLs":["https://10.0.0.11:2379"]}]}`,
			[]cluster.Instance{{Role: cluster.RoleEtcd, Namespace: "kube-system", Pod: "etcd-cp-1", Node: "cp-1", Flags: map[string]string{"name": "cp-1"}, Waiting: "CrashLoopBackOff"}},
			cluster.Nodes{},
			[]Member{{Name: "cp-1", ID: 1, Node: "cp-1", Listed: true, Started: true, Client: "10.0.0.11:2379", Pod: "kube-system/etcd-cp-1", Waiting: "CrashLoopBackOff", Metrics: []string{"etcd://10.0.0.11:2379"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fromList(list(t, tt.list), tt.pods, tt.nodes)
			if !got.Listed {
				t.Error("not Listed")
			}
			if diff := cmp.Diff(tt.want, got.Members); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersFromThePodsAlone(t *testing.T) {
	openshift := cluster.Instance{
		Role: cluster.RoleEtcd, Namespace: "openshift-etcd", Pod: "etcd-master-0", Node: "master-0", HostIP: "192.168.1.10", Ready: true,
		Flags: map[string]string{
			"name":                  "${NODE_master_0_ETCD_NAME}",
			"advertise-client-urls": "https://${NODE_master_0_ETCD_URL_HOST}:2379",
			"listen-client-urls":    "https://0.0.0.0:2379,unixs://${NODE_master_0_IP}:0",
			"listen-metrics-urls":   "https://0.0.0.0:9978",
		},
	}
	bare := cluster.Instance{Role: cluster.RoleEtcd, Namespace: "kube-system", Pod: "etcd-server-events-ip-1", Node: "ip-1"}
	why := collectors.Gapf(collectors.Forbidden, "no client certificate")
	got := fromPods([]cluster.Instance{openshift, pod("cp-1", "10.0.0.11", nil), bare, bare}, why)
	want := Membership{Why: why, Members: []Member{
		{Name: "master-0", Node: "master-0", Started: true, Client: "192.168.1.10:2379", Pod: "openshift-etcd/etcd-master-0", Ready: true, Metrics: []string{"pod+https://master-0@openshift-etcd/etcd-master-0:9978"}},
		{Name: "cp-1", Node: "cp-1", Started: true, Client: "10.0.0.11:2379", Pod: "kube-system/etcd-cp-1", Ready: true, Metrics: []string{"pod+http://cp-1@kube-system/etcd-cp-1:2381"}},
		{Name: "ip-1@kube-system/etcd-server-events-ip-1", Node: "ip-1", Started: true, Pod: "kube-system/etcd-server-events-ip-1"},
		{Name: "ip-1@kube-system/etcd-server-events-ip-1", Node: "ip-1", Started: true, Pod: "kube-system/etcd-server-events-ip-1"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"https://10.0.0.1:2379":    "10.0.0.1:2379",
		"10.0.0.1":                 "10.0.0.1:2379",
		"https://[fd00::1]:2379/x": "[fd00::1]:2379",
		"[fd00::1]":                "[fd00::1]:2379",
		"http://etcd.example":      "etcd.example:2379",
		"":                         "",
	} {
		if got := hostPort(in); got != want {
			t.Errorf("hostPort(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUsableLeadsToOnePlaceFromAnywhere(t *testing.T) {
	for in, want := range map[string]bool{
		"https://10.0.0.1:2379": true, "https://etcd-1:2379": true, "https://[fd00::1]:2379": true,
		"https://127.0.0.1:2379": false, "https://[::1]:2379": false, "https://0.0.0.0:2379": false, "https://[::]:2379": false,
		"https://localhost:2379": false, "https://${IP}:2379": false, "": false, "https://:2379": false,
	} {
		if got := usable(in); got != want {
			t.Errorf("usable(%q) = %t, want %t", in, got, want)
		}
	}
}

func TestQuorum(t *testing.T) {
	for _, tt := range []struct {
		q          Quorum
		need       int
		spare      int
		impossible bool
		text       string
	}{
		{Quorum{Voters: 1, Answer: []string{"a"}, Leader: "a"}, 1, 0, false, "1 of 1 voter answers, 1 is needed"},
		{Quorum{Voters: 3, Answer: []string{"a", "b"}, Down: []string{"c"}, Leader: "a"}, 2, 0, false, "2 of 3 voters answer, 2 are needed"},
		{Quorum{Voters: 3, Answer: []string{"a"}, Down: []string{"b", "c"}, Leaderless: []string{"a"}}, 2, -1, true, "1 of 3 voters answers, 2 are needed"},
		{Quorum{Voters: 3, Answer: []string{"a"}, Unsure: []string{"b", "c"}, Leaderless: []string{"a"}}, 2, 1, false, "1 of 3 voters answers, 2 are needed"},
		{Quorum{Voters: 5, Answer: []string{"a", "b", "c"}, Silent: []string{"d"}, Down: []string{"e"}}, 3, 1, false, "3 of 5 voters answer and 1 more runs, 3 are needed"},
		{Quorum{Voters: 5, Answer: []string{"a", "b", "c"}, Down: []string{"d", "e"}}, 3, 0, false, "3 of 5 voters answer, 3 are needed"},
	} {
		if tt.q.Need() != tt.need || tt.q.Spare() != tt.spare || tt.q.Impossible() != tt.impossible || tt.q.String() != tt.text {
			t.Errorf("%+v: need %d, spare %d, impossible %t, %q; want %d, %d, %t, %q", tt.q,
				tt.q.Need(), tt.q.Spare(), tt.q.Impossible(), tt.q, tt.need, tt.spare, tt.impossible, tt.text)
		}
	}
}
