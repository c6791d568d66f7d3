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
		{"1.37", "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: 0/5 nodes are available: 3 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
			5, []Reason{{3, "insufficient cpu", Resources}, {2, "untolerated taint(s)", Taint}}},
		{"1.26 to 1.36, of a pod with resource claims", "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/5 nodes are available: 3 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
			5, []Reason{{3, "insufficient cpu", Resources}, {2, "untolerated taint(s)", Taint}}},
		{"1.34, what no node can allocate", "0/3 nodes are available: 3 cannot allocate all claims. still not schedulable, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
			3, []Reason{{3, "cannot allocate all claims", Claim}}},
		{"1.26, with two periods", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling..",
			1, []Reason{{1, "didn't match Pod's node affinity/selector", Placement}}},
		{"1.24, from an incident", "0/12 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) had volume node affinity conflict, 8 node(s) didn't match Pod's node affinity/selector. preemption: 0/12 nodes are available: 1 No preemption victims found for incoming pod, 11 Preemption is not helpful for scheduling.",
			12, []Reason{{2, "didn't match PersistentVolume's node affinity", Volume}, {1, "untolerated taint {node.kubernetes.io/unreachable}", NodeDown}, {8, "didn't match Pod's node affinity/selector", Placement}, {1, "didn't match pod anti-affinity rules", Placement}}},
		{"1.20, with a comma inside", "0/3 nodes are available: 1 node(s) had taint {node.kubernetes.io/not-ready: }, that the pod didn't tolerate, 2 Insufficient memory.",
			3, []Reason{{2, "insufficient memory", Resources}, {1, "untolerated taint {node.kubernetes.io/not-ready}", NodeDown}}},
		{"1.20, affinity", "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity.",
			2, []Reason{{2, "didn't match Pod's node affinity/selector", Placement}}},
		{"to 1.20, one node and two reasons for it", "0/3 nodes are available: 1 node(s) didn't match pod affinity rules, 2 node(s) didn't match pod anti-affinity rules, 3 node(s) didn't match pod affinity/anti-affinity.",
			3, []Reason{{2, "didn't match pod anti-affinity rules", Placement}, {1, "didn't match pod affinity rules", Placement}}},
		{"1.21, the same in other words", "0/1 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity rules, 1 node(s) didn't satisfy existing pods anti-affinity rules.",
			1, []Reason{{1, "didn't satisfy existing pods anti-affinity rules", Placement}}},
		{"1.20, a node by name", "0/1 nodes are available: 1 node(s) didn't match the requested hostname.",
			1, []Reason{{1, "didn't match the requested node name", Placement}}},
		{"1.18", "0/1 nodes are available: 1 node(s) didn't match node selector.",
			1, []Reason{{1, "didn't match Pod's node affinity/selector", Placement}}},
		{"1.16", "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had taints that the pod didn't tolerate.",
			4, []Reason{{1, "insufficient cpu", Resources}, {3, "untolerated taint(s)", Taint}}},
		{"1.14, nodes that are ill", "0/9 nodes are available: 1 node(s) had disk pressure, 2 node(s) were not ready, 2 node(s) were unschedulable, 4 Insufficient pods.",
			9, []Reason{{4, "Too many pods", Resources}, {2, "were not ready", NodeDown}, {2, "were unschedulable", Cordoned}, {1, "disk pressure", Taint}}},
		{"from 1.26 on, the pod's own fault", "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
			5, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.19 to 1.25, counted for each node", "0/5 nodes are available: 5 pod has unbound immediate PersistentVolumeClaims.",
			5, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.22, a claim that is not there", `0/5 nodes are available: 5 persistentvolumeclaim "data" not found.`,
			5, []Reason{{0, `persistentvolumeclaim "data" not found`, Volume}}},
		{"from 1.26 on, a claim that is not there", `0/5 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.`,
			5, []Reason{{0, `persistentvolumeclaim "data" not found`, Volume}}},
		{"1.17, said three times", "pod has unbound immediate PersistentVolumeClaims (repeated 3 times)",
			0, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.17, said by a plugin", `error while running "VolumeBinding" filter plugin for pod "web-0": pod has unbound immediate PersistentVolumeClaims`,
			0, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.18, said by a plugin", `running "VolumeBinding" filter plugin for pod "web-0": pod has unbound immediate PersistentVolumeClaims`,
			0, []Reason{{0, "pod has unbound immediate PersistentVolumeClaims", Volume}}},
		{"1.14 to 1.32, a volume elsewhere", "0/1 nodes are available: 1 node(s) had volume node affinity conflict.",
			1, []Reason{{1, "didn't match PersistentVolume's node affinity", Volume}}},
		{"from 1.33 on, a volume elsewhere", "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
			1, []Reason{{1, "didn't match PersistentVolume's node affinity", Volume}}},
		{"from 1.19 on, a topology", "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) didn't match pod topology spread constraints (missing required label).",
			2, []Reason{{1, "didn't match pod topology spread constraints", Placement}, {1, "didn't match pod topology spread constraints (missing required label)", Placement}}},
		{"from 1.22 on, a volume for one pod", "0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.",
			1, []Reason{{1, "unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod", Volume}}},
		{"from 1.35 on, a driver", "0/1 nodes are available: 1 ebs.csi.aws.com CSI driver is not installed on the node.",
			1, []Reason{{1, "ebs.csi.aws.com CSI driver is not installed on the node", Volume}}},
		{"1.24 to 1.25, what plugins rule out before", "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously.",
			3, []Reason{{3, "didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously", Placement}}},
		{"the cloud controller manager's taint", "0/2 nodes are available: 2 node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}.",
			2, []Reason{{2, "untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}", Uninitiated}}},
		{"an extended resource", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
			2, []Reason{{2, "insufficient nvidia.com/gpu", Resources}}},
		{"host ports", "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
			1, []Reason{{1, "didn't have free ports for the requested pod ports", Port}}},
		{"from 1.22 on, the binding is refused", `running Bind plugin "DefaultBinder": Internal error occurred: failed calling webhook "b.example.com": no endpoints available`,
			0, []Reason{{0, `running Bind plugin "DefaultBinder": Internal error occurred: failed calling webhook "b.example.com": no endpoints avail…`, Binding}}},
		{"1.22, the same", `binding rejected: running Bind plugin "DefaultBinder": x`,
			0, []Reason{{0, `binding rejected: running Bind plugin "DefaultBinder": x`, Binding}}},
		{"to 1.21, the same", `Binding rejected: pods "web-0" is forbidden`,
			0, []Reason{{0, `Binding rejected: pods "web-0" is forbidden`, Binding}}},
		{"no nodes", "no nodes available to schedule pods", 0, []Reason{{0, "no nodes available to schedule pods", NoNodes}}},
		{"nothing", "", 0, []Reason{{0, "no reason given", Unnamed}}},
		{"nothing behind the colon", "0/3 nodes are available:", 3, []Reason{{0, "no reason given", Unnamed}}},
		{"numbers beyond all bounds", "0/99999999999999999999 nodes are available: 99999999999999999999 Insufficient cpu.",
			0, []Reason{{0, "99999999999999999999 Insufficient cpu", Unnamed}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ParseMessage(c.msg)
			if m.Nodes != c.nodes {
				t.Errorf("nodes = %d, want %d", m.Nodes, c.nodes)
			}
			if diff := cmp.Diff(c.want, m.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAMessageSaysOfPreemption(t *testing.T) {
	const before = "0/3 nodes are available: 3 Insufficient cpu."
	for _, c := range []struct {
		name, msg string
		want      []Reason
	}{
		{"to 1.23 it says nothing", before, nil},
		{"1.24", before + " preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
			[]Reason{{2, "Preemption is not helpful for scheduling", Unnamed}, {1, "No preemption victims found for incoming pod", Unnamed}}},
		{"the pod may not", before + " preemption: not eligible due to preemptionPolicy=Never.",
			[]Reason{{0, "not eligible due to preemptionPolicy=Never", Unnamed}}},
		{"its victims are on their way out", before + " preemption: not eligible due to a terminating pod on the nominated node.",
			[]Reason{{0, "not eligible due to a terminating pod on the nominated node", Unnamed}}},
		{"resource claims before it", before + " no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
			[]Reason{{3, "No preemption victims found for incoming pod", Unnamed}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ParseMessage(c.msg)
			if diff := cmp.Diff(c.want, m.Preemption); diff != "" {
				t.Errorf("preemption (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]Reason{{3, "insufficient cpu", Resources}}, m.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add("0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had taint {a: b}, that the pod didn't tolerate. preemption: x")
	f.Add("0/ nodes are available:, , 1 , 2")
	f.Add("0/1 nodes are available: preemption: 0/1 nodes are available: preemption: ")
	f.Add(`running "a" filter plugin for pod "b": (repeated 2 times)`)
	f.Add(strings.Repeat("1 é, ", 5000))
	f.Fuzz(func(t *testing.T, msg string) {
		m := ParseMessage(msg)
		if m.Nodes < 0 || len(m.Reasons) == 0 || len(m.Reasons) > maxReasons || len(m.Preemption) > maxReasons {
			t.Fatalf("%d nodes, %d reasons, %d of preemption", m.Nodes, len(m.Reasons), len(m.Preemption))
		}
		for _, r := range append(m.Reasons, m.Preemption...) {
			if r.Nodes < 0 || r.Text == "" || len(r.Text) > maxText+len("…") || r.Kind == "" || !utf8.ValidString(r.Text) {
				t.Errorf("%+v", r)
			}
		}
	})
}
