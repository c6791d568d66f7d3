package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// told writes changes as "kind check target", a symptom with its problem.
func told(c *report.Changes) []string {
	out := []string{}
	for _, x := range c.Changes {
		s := fmt.Sprintf("%s %s %s", x.Kind, x.Check, x.Target)
		if x.Of > 0 {
			s += " of " + string(c.Changes[x.Of-1].Check)
		}
		out = append(out, s)
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name     string
		from, to []string
		want     []string
		status   checks.Status
		same     int
	}{
		{"nothing at all is not green", nil, nil, []string{}, checks.Unknown, 0},
		{"nothing has changed", []string{"a etcd/1 ok", "b etcd/1 warning"}, []string{"a etcd/1 ok", "b etcd/1 warning"}, []string{}, checks.OK, 1},
		{"new trouble", []string{"a etcd/1 ok"}, []string{"a etcd/1 critical"}, []string{"new a etcd/1"}, checks.Critical, 0},
		{"a warning that becomes critical is worse", []string{"a etcd/1 warning"}, []string{"a etcd/1 critical"}, []string{"worse a etcd/1"}, checks.Critical, 0},
		{"and the other way round better, which costs no exit code", []string{"a etcd/1 critical"}, []string{"a etcd/1 warning"}, []string{"better a etcd/1"}, checks.OK, 0},
		{"trouble that was looked for is gone", []string{"a etcd/1 critical"}, []string{"a etcd/1 ok"}, []string{"gone a etcd/1"}, checks.OK, 0},
		{"trouble that cannot be judged now is not gone", []string{"a etcd/1 critical"}, []string{"a etcd/1 unknown"}, []string{"unseen a etcd/1"}, checks.Unknown, 0},
		{"nor is trouble whose rule was not run", []string{"a etcd/1 critical", "b etcd/1 ok"}, []string{"b etcd/1 ok"}, []string{"unseen a etcd/1"}, checks.Unknown, 0},
		{"nor that of a thing which is not named now by a rule that could not see all", []string{"a etcd/1 critical"}, []string{"a etcd unknown"}, []string{"unseen a etcd/1", "unseen a etcd"}, checks.Unknown, 0},
		{"what the rule finds no more is gone", []string{"a pods/x critical", "a pods/y ok"}, []string{"a pods/y ok"}, []string{"gone a pods/x"}, checks.OK, 0},
		{"what went well and is not there any more is no news", []string{"a pods/x ok", "a pods/y ok"}, []string{"a pods/y ok"}, []string{}, checks.OK, 0},
		{"known again", []string{"a etcd/1 unknown"}, []string{"a etcd/1 ok"}, []string{"seen a etcd/1"}, checks.OK, 0},
		{"trouble on a thing that is new", []string{"a etcd/1 ok"}, []string{"a etcd/1 ok", "a etcd/2 warning"}, []string{"new a etcd/2"}, checks.Warning, 0},
		{"a rule asked for the first time that knows nothing is no news", []string{"a etcd/1 ok"}, []string{"a etcd/1 ok", "b etcd/1 unknown"}, []string{}, checks.OK, 0},
		{"a symptom belongs to its problem",
			[]string{"etcd-wal-fsync-slow etcd/1 ok", "etcd-backend-commit-slow etcd/1 ok"},
			[]string{"etcd-wal-fsync-slow etcd/1 critical", "etcd-backend-commit-slow etcd/1 warning"},
			[]string{"new etcd-wal-fsync-slow etcd/1", "new etcd-backend-commit-slow etcd/1 of etcd-wal-fsync-slow"}, checks.Critical, 0},
		{"and goes with it",
			[]string{"etcd-wal-fsync-slow etcd/1 critical", "etcd-backend-commit-slow etcd/1 warning"},
			[]string{"etcd-wal-fsync-slow etcd/1 ok", "etcd-backend-commit-slow etcd/1 ok"},
			[]string{"gone etcd-wal-fsync-slow etcd/1", "gone etcd-backend-commit-slow etcd/1 of etcd-wal-fsync-slow"}, checks.OK, 0},
		{"a new symptom of an old problem is told by itself",
			[]string{"etcd-wal-fsync-slow etcd/1 critical", "etcd-backend-commit-slow etcd/1 ok"},
			[]string{"etcd-wal-fsync-slow etcd/1 critical", "etcd-backend-commit-slow etcd/1 warning"},
			[]string{"new etcd-backend-commit-slow etcd/1"}, checks.Warning, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Compare(reporttest.Made(tc.from...), reporttest.Made(tc.to...))
			if diff := cmp.Diff(tc.want, told(c)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if c.Status != tc.status || c.Same != tc.same {
				t.Errorf("status %s, %d the same; want %s, %d", c.Status, c.Same, tc.status, tc.same)
			}
		})
	}
}

func TestAReportIsNoOtherThanItself(t *testing.T) {
	r := reporttest.Sample()
	if c := Compare(r, r); len(c.Changes) != 0 || c.Status != checks.OK || c.Differs != "" {
		t.Errorf("%+v", c)
	}
}

func TestReportsOfTwoClustersAreToldSo(t *testing.T) {
	a, b := reporttest.Sample(), reporttest.Sample()
	b.Cluster.Server, a.Cluster.Server = "https://b", "https://a"
	if c := Compare(a, b); !strings.Contains(c.Differs, "https://a and https://b") {
		t.Errorf("differs %q", c.Differs)
	}
	b.Cluster.Server = a.Cluster.Server
	b.StartedAt = a.StartedAt.Add(-time.Hour)
	if c := Compare(a, b); !strings.Contains(c.Differs, "older") {
		t.Errorf("differs %q", c.Differs)
	}
}
