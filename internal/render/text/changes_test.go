package text

import (
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// TestWhatIsNotToBeHadIsNoSymptom: a dead disk has few symptoms, and many verdicts
// that nobody can give while it lasts.
func TestWhatIsNotToBeHadIsNoSymptom(t *testing.T) {
	of := func(kind report.ChangeKind, before, after checks.Status) report.Change {
		return report.Change{Kind: kind, Check: "x", Target: reporttest.Target("etcd/cp-1"), Of: 1, Before: &report.Verdict{Status: before}, After: &report.Verdict{Status: after}}
	}
	root := of(report.NewTrouble, checks.OK, checks.Warning)
	root.Of = 0
	for _, tc := range []struct {
		name  string
		under []report.Change
		want  string
	}{
		{"symptoms and gaps", []report.Change{of(report.NewTrouble, checks.OK, checks.Critical), of(report.Unseen, checks.OK, checks.Unknown), of(report.Unseen, checks.OK, checks.Unknown)},
			"with it: 1 symptom, the worst of them critical; 2 verdicts not to be had"},
		{"gaps alone", []report.Change{of(report.Unseen, checks.OK, checks.Unknown)}, "with it: 1 verdict not to be had"},
		{"an unknown is no worse a symptom", []report.Change{of(report.NewTrouble, checks.Unknown, checks.Warning)}, "with it: 1 symptom\n"},
		{"what is seen again", []report.Change{of(report.Seen, checks.Unknown, checks.OK)}, "with it: 1 verdict to be had again"},
	} {
		got := Changes(&report.Changes{Changes: append([]report.Change{root}, tc.under...)}, Options{Width: 200})
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: got\n%s\nwant %s", tc.name, got, tc.want)
		}
	}
}
