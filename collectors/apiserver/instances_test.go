package apiserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors/cluster"
)

func pod(node, hostIP string, flags map[string]string) cluster.Instance {
	return cluster.Instance{Role: cluster.RoleAPIServer, Namespace: "kube-system", Pod: "kube-apiserver-" + node, Node: node, HostIP: hostIP, Flags: flags}
}

func TestFleet(t *testing.T) {
	nodes := cluster.Nodes{Addresses: map[string]string{"10.0.0.11": "cp-1", "10.0.0.12": "cp-2", "fd00::11": "cp-1"}}
	for _, tt := range []struct {
		name string
		eps  []endpoint
		pods []cluster.Instance
		want []string // name address, with a * if listed
	}{
		{"nothing is known", nil, nil, nil},
		{
			"endpoints alone: k3s", []endpoint{{"10.0.0.11", "6443"}, {"10.0.0.9", "6443"}}, nil,
			[]string{"10.0.0.9 10.0.0.9:6443*", "cp-1 10.0.0.11:6443*"},
		},
		{
			"one that is down is only a pod", []endpoint{{"10.0.0.11", "6443"}}, []cluster.Instance{pod("cp-1", "10.0.0.11", nil), pod("cp-2", "10.0.0.12", map[string]string{"secure-port": "8443"})},
			[]string{"cp-1 10.0.0.11:6443*", "cp-2 10.0.0.12:8443"},
		},
		{
			"a second network", []endpoint{{"192.168.0.11", "6443"}}, []cluster.Instance{pod("cp-1", "10.0.0.11", map[string]string{"advertise-address": "192.168.0.11"})},
			[]string{"cp-1 192.168.0.11:6443*"},
		},
		{
			"all advertise the load balancer", []endpoint{{"10.0.0.10", "6443"}},
			[]cluster.Instance{pod("cp-1", "10.0.0.11", map[string]string{"advertise-address": "10.0.0.10"}), pod("cp-2", "10.0.0.12", map[string]string{"advertise-address": "10.0.0.10"})},
			[]string{"cp-1 10.0.0.11:6443", "cp-2 10.0.0.12:6443"},
		},
		{"two address families", []endpoint{{"10.0.0.11", "6443"}, {"fd00::11", "6443"}}, nil, []string{"cp-1 10.0.0.11:6443*"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, i := range fleet(tt.eps, tt.pods, nodes) {
				s := i.Name + " " + i.Address()
				if i.Listed {
					s += "*"
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestServerAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://10.0.0.10:6443": "10.0.0.10:6443", "https://lb.example/k8s/clusters/c-1": "lb.example:443",
		"https://[fd00::1]:6443": "[fd00::1]:6443", "": "", "::": "",
	} {
		if got := serverAddress(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
