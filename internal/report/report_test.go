package report

import (
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

func TestWhatCouldNotBeSeenIsSaid(t *testing.T) {
	r := New(Run{Snapshot: &collectors.Snapshot{}, Findings: []checks.Finding{
		{Check: "apiserver-etcd-latency", Target: target("apiserver/cp-1"), Status: checks.Warning, Summary: "slow"},
		{Check: "etcd-wal-fsync-slow", Target: target("etcd"), Status: checks.OutOfScope, Gap: collectors.Gapf(collectors.OutOfScope, "EKS keeps the etcd to itself").Of(collectors.Hidden)},
	}})
	p := r.Problems[0]
	want := "nothing ktriage can see explains this; it cannot see the network to etcd and how busy the API server's node is; etcd-wal-fsync-slow (EKS keeps the etcd to itself)"
	if p.Because != want || len(p.Unseen) != 2 {
		t.Errorf("got  %s\nwant %s", p.Because, want)
	}
}

func TestAnEmptyRunIsNotGreen(t *testing.T) {
	r := New(Run{Snapshot: &collectors.Snapshot{}})
	if r.Status != checks.Unknown || r.Cluster.Mode != "nothing" {
		t.Errorf("status %s, mode %s", r.Status, r.Cluster.Mode)
	}
}

func TestAnExplainedGapIsNoWorseThanItsCause(t *testing.T) {
	gap := &collectors.Gap{Reason: collectors.Unreachable, Detail: "refused"}
	down := checks.Finding{Check: "etcd-member-unreachable", Target: target("etcd/cp-3"), Status: checks.Warning, Summary: "is down"}
	its := checks.Finding{Check: "etcd-db-quota-usage", Target: target("etcd/cp-3"), Status: checks.Unknown, Gap: gap}
	another := checks.Finding{Check: "etcd-db-quota-usage", Target: target("etcd/cp-2"), Status: checks.Unknown, Gap: gap}
	for _, tc := range []struct {
		findings []checks.Finding
		want     checks.Status
	}{
		{[]checks.Finding{down, its}, checks.Warning},
		{[]checks.Finding{down, its, another}, checks.Unknown},
		{[]checks.Finding{its}, checks.Unknown},
	} {
		if got := New(Run{Snapshot: &collectors.Snapshot{}, Findings: tc.findings}).Status; got != tc.want {
			t.Errorf("status %s, want %s", got, tc.want)
		}
	}
}

func TestCommandsAreSafeToPaste(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"cp-1", "describe cp-1"},
		{"$(reboot)", "describe '$(reboot)'"},
		{"a'b;c", `describe 'a'\''b;c'`},
	} {
		if got := expand("describe {name}", collectors.Target{Name: tc.name}); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestACommandNamesTheNamespaceOrSaysThatItIsToBeNamed(t *testing.T) {
	for name, want := range map[string]string{"kube-system/x": "-n kube-system get x", "leases.example.com": "-n NAMESPACE get leases.example.com"} {
		if got := expand("-n {ns} get {obj}", collectors.Target{Name: name}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func target(s string) collectors.Target {
	c, name, _ := strings.Cut(s, "/")
	return collectors.Target{Component: collectors.Component(c), Name: name, Node: name}
}
