package faults

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryFaultIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range slices.Concat(All(), Shapes()) {
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(f.Name) || seen[f.Name] {
			t.Errorf("name %q is malformed or there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Doc == "" {
			t.Errorf("%s: no doc", f.Name)
		}
		if f.Inject == nil || f.Wait == nil || f.Heal == nil {
			t.Errorf("%s: Inject, Wait or Heal is missing", f.Name)
		}
		if _, err := os.Stat(strings.ReplaceAll(f.Name, "-", "_") + ".go"); err != nil {
			t.Errorf("%s has no file of its own", f.Name)
		}
	}
}

func TestOnlyShapesWantNothing(t *testing.T) {
	for _, f := range All() {
		if f.Healthy() {
			t.Errorf("%s: no wanted problem", f.Name)
		}
	}
	for _, f := range Shapes() {
		if !f.Healthy() {
			t.Errorf("%s: wants %s", f.Name, f.Want.Check)
		}
	}
}
