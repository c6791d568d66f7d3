package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
)

// TestEveryRuleOfTheCatalogueIsAccountedFor demands of each rule that it is a
// check, or is said by another, or is rejected with a reason; and one of these
// only. What is open is printed.
func TestEveryRuleOfTheCatalogueIsAccountedFor(t *testing.T) {
	exists := map[checks.ID]bool{}
	for _, c := range All() {
		exists[c.ID] = true
	}
	sections := Catalogue()
	for _, d := range decided {
		if !slices.ContainsFunc(sections, func(s Section) bool { return s.Number == d.section }) {
			t.Errorf("the catalogue has no section %s", d.section)
		}
	}
	seen := map[checks.ID]string{}
	for _, s := range sections {
		fates := map[checks.ID][]string{}
		for _, m := range s.Merged {
			fates[m.ID] = append(fates[m.ID], "merged")
			if len(m.Into) == 0 {
				t.Errorf("%s is merged into nothing", m.ID)
			}
			for _, into := range m.Into {
				if !exists[into] {
					t.Errorf("%s is merged into %s, which is no check", m.ID, into)
				}
			}
			because(t, m.ID, m.Why)
		}
		for _, r := range s.Rejected {
			fates[r.ID] = append(fates[r.ID], "rejected")
			because(t, r.ID, r.Why)
		}
		for _, id := range s.Open {
			fates[id] = append(fates[id], "open")
		}
		for _, id := range s.Rules {
			if other, ok := seen[id]; ok {
				t.Errorf("%s is in section %s and in %s", id, other, s.Number)
			}
			seen[id] = s.Number
			got := fates[id]
			if exists[id] {
				got = append(got, "a check")
			}
			if len(got) != 1 {
				t.Errorf("section %s: %s must be one of: a check, merged, rejected; it is %q", s.Number, id, got)
			}
			delete(fates, id)
		}
		for id := range fates {
			t.Errorf("section %s has no rule %s", s.Number, id)
		}
		if len(s.Open) > 0 {
			t.Logf("section %s (%s), open: %v", s.Number, s.Title, s.Open)
		}
	}
}

// because demands a reason that is more than a word.
func because(t *testing.T, id checks.ID, why string) {
	t.Helper()
	if len(strings.Fields(why)) < 4 || strings.HasSuffix(why, ".") {
		t.Errorf("%s has no reason, or one with a period: %q", id, why)
	}
}
