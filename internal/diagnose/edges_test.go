package diagnose

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
)

// TestEdges holds that each way in which trouble spreads is told by a link, or
// says why not, and that each link stands with one.
func TestEdges(t *testing.T) {
	exist := map[checks.ID]bool{}
	for _, c := range suite.All() {
		exist[c.ID] = true
	}
	told := map[string]bool{}
	for n, e := range Edges {
		if want := "E" + strconv.Itoa(n+1); e.ID != want {
			t.Errorf("got edge %s, want %s", e.ID, want)
		}
		if !strings.Contains(e.What, " → ") {
			t.Errorf("%s does not say what brings about what: %q", e.ID, e.What)
		}
		if len(e.Links) == 0 && e.Not == "" {
			t.Errorf("%s has neither a link nor a reason why not", e.ID)
		}
		if (e.Unseen == "") != (len(e.Of) == 0) {
			t.Errorf("%s: what is unseen and of what go together", e.ID)
		}
		for _, id := range e.Of {
			if !exist[id] {
				t.Errorf("%s names %s, which is no check", e.ID, id)
			}
		}
		for _, id := range e.Links {
			if !slices.ContainsFunc(Links, func(l Link) bool { return l.ID == id }) {
				t.Errorf("%s names link %s, which there is not", e.ID, id)
			}
			told[id] = true
		}
	}
	for _, l := range Links {
		if strings.HasPrefix(l.ID, "E") && !told[l.ID] {
			t.Errorf("link %s stands with no edge", l.ID)
		}
	}
}

func TestWhatCouldHaveShownTheCauseIsSaid(t *testing.T) {
	hidden := func(id checks.ID) checks.Finding {
		f := finding(id, checks.OutOfScope, "etcd")
		f.Gap = collectors.Gapf(collectors.OutOfScope, "EKS keeps the etcd to itself").Of(collectors.Hidden)
		return f
	}
	none := finding("webhook-slow", checks.OutOfScope, "webhooks")
	none.Gap = collectors.Gapf(collectors.OutOfScope, "no webhook was called")
	for _, c := range []struct {
		name     string
		findings []checks.Finding
		want     string
	}{
		{"what the provider hides", []checks.Finding{finding("apiserver-write-latency-slo", checks.Warning, "apiserver/cp-1"), hidden("etcd-wal-fsync-slow"), none, finding("apiserver-etcd-latency", checks.OK, "apiserver/cp-1")},
			"nothing ktriage can see explains this; it cannot see etcd-wal-fsync-slow (EKS keeps the etcd to itself)"},
		{"what did not answer", []checks.Finding{finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler"), finding("scheduler-down", checks.Unknown, "scheduler")},
			"nothing ktriage can see explains this; it cannot see scheduler-down (unreachable)"},
		{"what did not answer, and could not have shown it", []checks.Finding{finding("lease-expired", checks.Critical, "leases/kube-system/kube-scheduler"), finding("kcm-down", checks.Unknown, "controllers")},
			"nothing explains this: all that is known to bring it about was looked at"},
		{"another member's disk", []checks.Finding{finding("etcd-raft-index-lag", checks.Warning, "etcd/cp-1"), finding("etcd-wal-fsync-slow", checks.Unknown, "etcd/cp-2"), finding("etcd-wal-fsync-slow", checks.OK, "etcd/cp-1")},
			"nothing explains this: all that is known to bring it about was looked at"},
		{"what no check looks at", []checks.Finding{finding("etcd-wal-fsync-slow", checks.Warning, "etcd/cp-1")},
			"nothing ktriage can see explains this; it cannot see the node's disk, and who else writes to it"},
		{"what is a cause by nature", []checks.Finding{finding("scheduler-gated-pods", checks.Warning, "pods")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, x := range suite.All() { // all others found nothing
				if !slices.ContainsFunc(c.findings, func(f checks.Finding) bool { return f.Check == x.ID }) {
					c.findings = append(c.findings, checks.Finding{Check: x.ID, Status: checks.OK, Target: collectors.Target{Component: x.Component}})
				}
			}
			d := Diagnose(c.findings, Links)
			if got := d.Problems[0].Why(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if why := Diagnose([]checks.Finding{finding("lease-expired", checks.Critical, "leases")}, Links).Problems[0].Why(); why != "" {
		t.Errorf("of a run of one check it is said: %s", why)
	}
}
