package leases

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/cluster"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const list = "list kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%21%3Dkube-node-lease"

func collect(t *testing.T, script string) *collectors.Collection {
	t.Helper()
	return collectors.Collect(context.Background(), capture.NewScript(at, 10*time.Second, txtar.Parse([]byte(script))), at, 10*time.Second, collectors.Options{}, Leases)
}

func TestLeasesAreHeldAgainstTheServersClock(t *testing.T) {
	c := collect(t, "-- "+list+` #first --
metadata: {name: kube-scheduler, namespace: kube-system}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:04.500000Z"}
-- `+list+` #last --
metadata: {name: kube-scheduler, namespace: kube-system}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:03:58.500000Z"}
---
metadata: {name: apiserver-abc, namespace: kube-system, labels: {apiserver.kubernetes.io/identity: kube-apiserver}}
spec: {holderIdentity: apiserver-abc_x, leaseDurationSeconds: 3600, renewTime: "2026-01-02T03:03:58.500000Z"}
`)
	h, gap := Leases.One(c.Snapshot)
	if gap != nil {
		t.Fatal(gap)
	}
	if len(h.Leases) != 1 {
		t.Fatalf("%d leases, want one", len(h.Leases))
	}
	l := h.Leases[0]
	if got, want := l.Age(h.At), 16500*time.Millisecond; got != want || !l.Expired(h.At) || l.Fresh(h.At) {
		t.Errorf("age %s, want %s; expired %t, fresh %t", got, want, l.Expired(h.At), l.Fresh(h.At))
	}
	b, ok := h.Before.Find("kube-system", "kube-scheduler")
	if !ok || !b.Fresh(h.Before.At) {
		t.Errorf("before: %+v, %t", b, ok)
	}
	// A window that is extended looks a last time again; the lease is still one.
	h, gap = Leases.One(c.Extend(context.Background(), 20*time.Second))
	if gap != nil || len(h.Leases) != 1 {
		t.Errorf("after Extend: %d leases, %v", len(h.Leases), gap)
	}
}

func TestEitherLookWillDo(t *testing.T) {
	const one = `
metadata: {name: kube-scheduler, namespace: kube-system}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:04.500000Z"}
`
	for _, c := range []struct{ name, script, broken string }{
		{"the second fails", "-- " + list + " #first --" + one + "-- " + list + " #last --\ngap: timeout: slow\n", "the second look failed: timeout: slow"},
		{"the first fails", "-- " + list + " #last --" + one + "-- " + list + " #first --\ngap: timeout: slow\n", "the first look failed: timeout: slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, gap := Leases.One(collect(t, c.script).Snapshot)
			if gap != nil || h.Broken != c.broken || h.Before != nil || len(h.Leases) != 1 {
				t.Errorf("%+v, %v", h, gap)
			}
		})
	}
	_, gap := Leases.One(collect(t, "-- "+list+" --\ngap: forbidden: no\n").Snapshot)
	if gap == nil || gap.Reason != collectors.Forbidden {
		t.Errorf("gap = %v, want forbidden", gap)
	}
}

func TestAgesNeedADate(t *testing.T) {
	_, err := newHeld([2]map[string]Lease{}, []collectors.Answered{{}, {}})
	if g := collectors.AsGap(err, collectors.Bug); g == nil || g.Reason != collectors.Absent || !strings.Contains(g.Detail, "Date") {
		t.Errorf("newHeld without dates = %v", err)
	}
}

func TestWhoHoldsALease(t *testing.T) {
	for _, c := range []struct {
		holder, host, node string
		holds              bool
	}{
		{"cp-1_2b4ae1bc-40c4-4c04-baa4-cdc130a1a69f", "cp-1", "cp-1", true},
		{"cp-1_x", "cp-1", "cp-10", false},
		{"ip-10-0-0-1_x", "ip-10-0-0-1", "ip-10-0-0-1.ec2.internal", true},
		{"MASTER-0.example.org_x", "MASTER-0.example.org", "master-0", true},
		{"no-uuid", "no-uuid", "cp-1", false},
		{"_x", "_x", "", false},
		{"", "", "", false},
	} {
		l := Lease{Holder: c.holder}
		if got := l.Host(); got != c.host {
			t.Errorf("Host of %q = %q, want %q", c.holder, got, c.host)
		}
		if got := l.HeldBy(cluster.Instance{Node: c.node, Pod: "kube-scheduler-" + c.node}); got != c.holds {
			t.Errorf("%q held by node %q = %t, want %t", c.holder, c.node, got, c.holds)
		}
	}
}

func TestFailingChecksAreNamed(t *testing.T) {
	got := failing("[+]ping ok\n[-]leaderElection failed: reason withheld\n[-]\n[-]" + strings.Repeat("x", 1000) + strings.Repeat("\n[-]y", 100) + "\nhealthz check failed\n")
	if len(got) != maxFailing || got[0] != "leaderElection" || len(got[2]) != 80 {
		t.Errorf("failing = %q", got)
	}
}

func FuzzFailing(f *testing.F) {
	f.Add("[+]ping ok\n[-]leaderElection failed: reason withheld\n")
	f.Fuzz(func(t *testing.T, body string) {
		if got := failing(body); len(got) > maxFailing {
			t.Errorf("%d names", len(got))
		}
	})
}
