package leases

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func homes(nodes []string, pods map[string]bool) Homes {
	h := Homes{pods: map[string]pod{}, nodes: map[string]bool{}}
	for _, n := range nodes {
		h.add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n}})
	}
	for id, ready := range pods {
		ns, name, _ := strings.Cut(id, "/")
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		if ready {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		h.add(p)
	}
	return h
}

func TestWhetherAHolderExists(t *testing.T) {
	h := homes([]string{"cp-1", "ip-10-0-0-7.ec2.internal"}, map[string]bool{
		"tools/op-5d4c9b7c6d-x2x7z": true, "tools/op-5d4c9b7c6d-bbbbb": false, "other/op-5d4c9b7c6d-ccccc": true, "tools/set-0": false,
		"ns/web": true, "ns/web-5d4c9b7c6d-zzzzz": true,
	})
	for holder, want := range map[string]Home{
		"op-5d4c9b7c6d-x2x7z_f6bce214-9968":          {Pod: "tools/op-5d4c9b7c6d-x2x7z", Works: true},
		"op-5d4c9b7c6d-bbbbb":                        {Pod: "tools/op-5d4c9b7c6d-bbbbb"},
		"op-5d4c9b7c6d-x2x7z-external-op-controller": {Pod: "tools/op-5d4c9b7c6d-x2x7z", Works: true},
		"web-5d4c9b7c6d-zzzzz-external-x":            {Pod: "ns/web-5d4c9b7c6d-zzzzz", Works: true},
		"set-0_f6bce214-9968":                        {Pod: "tools/set-0"},
		"cp-1_f6bce214-9968":                         {Node: "cp-1"},
		"ip-10-0-0-7_f6bce214-9968":                  {Node: "ip-10-0-0-7.ec2.internal"},
		"op-7f8b9c6d5-qqqqq_f6bce214-9968":           {Gone: true, Kin: 1, Of: "op"},
		"op-7f8b9c6d5-qqqqq-external-op-controller":  {Gone: true, Kin: 1, Of: "op"},
		"else-7f8b9c6d5-qqqqq":                       {Gone: true, Of: "else"},
		"f6bce214-9968-4b0e-be01-82314d080578":       {}, // names nothing
		"1770000000000-8081-tools-example-com":       {},
		"node-that-was_f6bce214-9968":                {},
		"set-1_f6bce214-9968":                        {},
		"":                                           {},
		"_":                                          {},
	} {
		if diff := cmp.Diff(want, h.Of(Lease{Namespace: "tools", Name: "op", Holder: holder})); diff != "" {
			t.Errorf("%q: -want +got:\n%s", holder, diff)
		}
	}
}

func FuzzHomes(f *testing.F) {
	f.Add("op-7f8b9c6d5-qqqqq_f6bce214-9968", "op-5d4c9b7c6d-x2x7z", "cp-1")
	f.Add("_", "", "")
	f.Fuzz(func(t *testing.T, holder, pod, node string) {
		got := homes([]string{node}, map[string]bool{"tools/" + pod: true}).Of(Lease{Namespace: "tools", Holder: holder})
		if got.Gone && (got.Pod != "" || got.Node != "") {
			t.Errorf("%q is gone and there: %+v", holder, got)
		}
	})
}
