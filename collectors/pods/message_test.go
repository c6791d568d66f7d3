package pods

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseMessage(t *testing.T) {
	for _, c := range []struct {
		name, msg string
		nodes     int
		want      []Reason
	}{
		{"1.37", "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/5 nodes are available: 3 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
			5, []Reason{{3, "insufficient cpu", Resources}, {2, "untolerated taint(s)", Taint}}},
		{"1.26, with two periods", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling..",
			1, []Reason{{1, "didn't match Pod's node affinity/selector", Placement}}},
		{"1.24, from an incident", "0/12 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) had volume node affinity conflict, 8 node(s) didn't match Pod's node affinity/selector. preemption: 0/12 nodes are available: 1 No preemption victims found for incoming pod, 11 Preemption is not helpful for scheduling.",
			12, []Reason{{2, "volume node affinity conflict", Volume}, {1, "untolerated taint {node.kubernetes.io/unreachable}", NodeDown}, {8, "didn't match Pod's node affinity/selector", Placement}, {1, "didn't match pod anti-affinity rules", Placement}}},
		{"1.20, with a comma inside", "0/3 nodes are available: 1 node(s) had taint {node.kubernetes.io/not-ready: }, that the pod didn't tolerate, 2 Insufficient memory.",
			3, []Reason{{2, "insufficient memory", Resources}, {1, "untolerated taint {node.kubernetes.io/not-ready}", NodeDown}}},
		{"1.18", "0/1 nodes are available: 1 node(s) didn't match node selector.",
			1, []Reason{{1, "didn't match Pod's node affinity/selector", Placement}}},
		{"1.16", "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had taints that the pod didn't tolerate.",
			4, []Reason{{1, "insufficient cpu", Resources}, {3, "untolerated taint(s)", Taint}}},
		{"the pod's own fault", "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
			5, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.17, said three times", "pod has unbound immediate PersistentVolumeClaims (repeated 3 times)",
			0, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"the cloud controller manager's taint", "0/2 nodes are available: 2 node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}.",
			2, []Reason{{2, "untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}", Uninitiated}}},
		{"an extended resource", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
			2, []Reason{{2, "insufficient nvidia.com/gpu", Resources}}},
		{"host ports", "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
			1, []Reason{{1, "didn't have free ports for the requested pod ports", Port}}},
		{"no nodes", "no nodes available to schedule pods", 0, []Reason{{0, "no nodes available to schedule pods", NoNodes}}},
		{"nothing", "", 0, []Reason{{0, "no reason given", Unnamed}}},
		{"numbers beyond all bounds", "0/99999999999999999999 nodes are available: 99999999999999999999 Insufficient cpu.",
			0, []Reason{{0, "99999999999999999999 Insufficient cpu", Unnamed}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, got := ParseMessage(c.msg)
			if nodes != c.nodes {
				t.Errorf("nodes = %d, want %d", nodes, c.nodes)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add("0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had taint {a: b}, that the pod didn't tolerate. preemption: x")
	f.Add("0/ nodes are available:, , 1 , 2")
	f.Add(strings.Repeat("1 é, ", 5000))
	f.Fuzz(func(t *testing.T, msg string) {
		nodes, reasons := ParseMessage(msg)
		if nodes < 0 || len(reasons) == 0 || len(reasons) > maxReasons {
			t.Fatalf("%d nodes, %d reasons", nodes, len(reasons))
		}
		for _, r := range reasons {
			if r.Nodes < 0 || r.Text == "" || len(r.Text) > maxText+len("…") || r.Kind == "" || !utf8.ValidString(r.Text) {
				t.Errorf("%+v", r)
			}
		}
	})
}
