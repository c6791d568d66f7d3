package report

import (
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

func TestWhatIsSuppressedIsNeitherOKNorCounted(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	slow := checks.Finding{Check: "etcd-wal-fsync-slow", Target: target("etcd/cp-1"), Status: checks.Warning, Summary: "slow"}
	worse := slow
	worse.Status = checks.Critical
	fine := checks.Finding{Check: "etcd-no-leader", Target: target("etcd/cp-1"), Status: checks.OK, Summary: "has a leader"}
	s := Suppression{Check: "etcd-wal-*", Target: "etcd/*", Reason: "new disks are ordered", Expires: at.Add(time.Hour), From: "f:1"}
	with := func(change func(*Suppression)) []Suppression {
		s := s
		change(&s)
		return []Suppression{s}
	}
	for _, tc := range []struct {
		name       string
		findings   []checks.Finding
		ss         []Suppression
		want       checks.Status
		suppressed int
		line       string
	}{
		{"without one", []checks.Finding{slow, fine}, nil, checks.Warning, 0, ""},
		{"with one", []checks.Finding{slow, fine}, []Suppression{s}, checks.OK, 1, "warning, suppressed until 2026-06-01T13:00:00Z: new disks are ordered (f:1)"},
		{"all of it is not ok", []checks.Finding{slow}, []Suppression{s}, checks.Suppressed, 1, "suppressed"},
		{"of another target", []checks.Finding{slow, fine}, with(func(s *Suppression) { s.Target = "etcd/cp-2" }), checks.Warning, 0, ""},
		{"a warning only, and it is critical", []checks.Finding{worse, fine}, with(func(s *Suppression) { s.AtMost = "warning" }), checks.Critical, 0, ""},
		{"expired", []checks.Finding{slow, fine}, with(func(s *Suppression) { s.Expires = at }), checks.Warning, 0, "has expired, it was until 2026-06-01T12:00:00Z: the verdict that it was about counts again (f:1)"},
		{"expired and in vain", []checks.Finding{fine}, with(func(s *Suppression) { s.Expires = at }), checks.OK, 0, "what it was about is no longer found: take it away"},
		{"for ever", []checks.Finding{slow, fine}, with(func(s *Suppression) { s.Expires = time.Time{} }), checks.OK, 1, "suppressed for ever"},
	} {
		r := New(Run{Snapshot: &collectors.Snapshot{At: at}, Findings: tc.findings, Suppressions: tc.ss})
		if r.Status != tc.want || r.Totals.Suppressed != tc.suppressed {
			t.Errorf("%s: %s with %d suppressed, want %s with %d", tc.name, r.Status, r.Totals.Suppressed, tc.want, tc.suppressed)
		}
		if r.Totals.OK != len(tc.findings)-1 && tc.name != "expired and in vain" {
			t.Errorf("%s: %d ok", tc.name, r.Totals.OK)
		}
		var lines []string
		for _, l := range r.SuppressionLines() {
			lines = append(lines, l.Text)
		}
		if got := strings.Join(lines, "\n"); !strings.Contains(got, tc.line) || tc.line == "" && got != "" {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.line)
		}
	}
}

func TestWhatCannotBeKnownGoesWithItsSuppressedCause(t *testing.T) {
	gap := &collectors.Gap{Reason: collectors.Unreachable, Detail: "refused"}
	fs := []checks.Finding{
		{Check: "etcd-member-unreachable", Target: target("etcd/cp-2"), Status: checks.Warning, Summary: "is down"},
		{Check: "etcd-member-unreachable", Target: target("etcd/cp-3"), Status: checks.Warning, Summary: "is down"},
		{Check: "etcd-db-quota-usage", Target: target("etcd/cp-2"), Status: checks.Unknown, Gap: gap},
		{Check: "etcd-db-quota-usage", Target: target("etcd/cp-3"), Status: checks.Unknown, Gap: gap},
		{Check: "etcd-no-leader", Target: target("etcd/cp-1"), Status: checks.OK},
	}
	one := Suppression{Check: "etcd-member-unreachable", Target: "etcd/cp-3", Reason: "being replaced", From: "f:1"}
	r := New(Run{Snapshot: &collectors.Snapshot{}, Findings: fs, Suppressions: []Suppression{one}})
	if got := []checks.Status{r.Findings[2].Status, r.Findings[3].Status}; got[0] != checks.Unknown || got[1] != checks.Suppressed {
		t.Errorf("got %v: the gap of cp-3 goes with its cause, that of cp-2 does not", got)
	}
	if len(r.Problems) != 1 || r.Problems[0].Target.Name != "cp-2" || r.Status != checks.Warning {
		t.Errorf("got %s, %+v", r.Status, r.Problems)
	}
	if s := r.Findings[3].Suppressed; s == nil || !strings.Contains(s.Reason, "etcd-member-unreachable on etcd/cp-3") {
		t.Errorf("got %+v", s)
	}
	both := one
	both.Target = ""
	if r := New(Run{Snapshot: &collectors.Snapshot{}, Findings: fs, Suppressions: []Suppression{both}}); r.Status != checks.OK || r.Totals.Suppressed != 4 {
		t.Errorf("got %s, %+v", r.Status, r.Totals)
	}
}

func TestTroubleOutlivesItsSuppressedCause(t *testing.T) {
	fs := []checks.Finding{
		{Check: "etcd-wal-fsync-slow", Target: target("etcd/cp-1"), Status: checks.Warning, Summary: "slow", Marks: []string{"write-path"}},
		{Check: "etcd-backend-commit-slow", Target: target("etcd/cp-1"), Status: checks.Warning, Summary: "slow too"},
	}
	r := New(Run{Snapshot: &collectors.Snapshot{}, Findings: fs, Suppressions: []Suppression{{Check: "etcd-wal-fsync-slow", Reason: "known"}}})
	if len(r.Problems) != 1 || r.Problems[0].Check != "etcd-backend-commit-slow" || r.Status != checks.Warning {
		t.Errorf("got %s, %+v", r.Status, r.Problems)
	}
}

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"etcd-*", "etcd-db", true}, {"etcd-*", "apf", false}, {"*", "", true}, {"a*b*c", "a--b--c", true}, {"a*b*c", "a--c", false},
		{"pods/*/web-*", "pods/shop/web-1", true}, {"ab*ba", "aba", false}, {"", "x", false},
	} {
		if got := Glob(tc.pattern, tc.s); got != tc.want {
			t.Errorf("%s %s: got %v", tc.pattern, tc.s, got)
		}
	}
}
