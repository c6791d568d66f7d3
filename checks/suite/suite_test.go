package suite

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

// sections are those of every page, in this order.
var sections = []string{"What it looks at", "Why it matters", "What to do", "When it is wrong", "Facts"}

func TestEveryCheckIsComplete(t *testing.T) {
	seen := map[checks.ID]bool{}
	for _, c := range All() {
		t.Run(string(c.ID), func(t *testing.T) {
			if !kebab.MatchString(string(c.ID)) || seen[c.ID] {
				t.Errorf("its ID is not kebab-case, or another's")
			}
			seen[c.ID] = true
			if !slices.Contains(collectors.Components, c.Component) {
				t.Errorf("its component is %q", c.Component)
			}
			if c.Title == "" || strings.HasSuffix(c.Title, ".") {
				t.Errorf("its title %q is not the healthy state as a sentence without a period", c.Title)
			}
			if len(c.Needs) == 0 || c.Run == nil {
				t.Error("it reads no fact, or judges nothing")
			}
			if len(c.Remedies) == 0 {
				t.Error("it says what is wrong and not what to do: it has no remedy")
			}
			for _, r := range c.Remedies {
				if r.Title == "" || r.Risk == "" {
					t.Errorf("remedy %+v lacks title or risk", r)
				}
			}
			page(t, c)
		})
	}
}

// page demands the heading and every section, none of them empty.
func page(t *testing.T, c *checks.Check) {
	t.Helper()
	first, rest, _ := strings.Cut(c.Doc, "\n")
	if first != "# "+string(c.ID) {
		t.Errorf("its page begins with %q", first)
	}
	parts := strings.Split("\n"+rest, "\n## ")
	if strings.TrimSpace(parts[0]) != "" {
		t.Errorf("its page has text before the first section: %q", parts[0])
	}
	var got []string
	for _, p := range parts[1:] {
		name, body, _ := strings.Cut(p, "\n")
		got = append(got, strings.TrimSpace(name))
		if len(strings.TrimSpace(body)) < 5 {
			t.Errorf("section %q of its page is empty", name)
		}
	}
	for _, f := range c.Needs { // what it declares to read is what its page says it reads
		if _, facts, _ := strings.Cut(c.Doc, "\n## Facts\n"); !strings.Contains(facts, "`"+f.Name()+"`") {
			t.Errorf("its page does not name the fact %s", f.Name())
		}
	}
	if !slices.Equal(got, sections) {
		t.Errorf("its page has the sections %q, want %q", got, sections)
	}
}

func TestFactsHaveNamesOfTheirOwn(t *testing.T) {
	byName := map[string]collectors.Any{}
	var visit func(collectors.Any)
	visit = func(f collectors.Any) {
		if other, ok := byName[f.Name()]; ok {
			if other != f {
				t.Errorf("two facts are called %s", f.Name())
			}
			return
		}
		byName[f.Name()] = f
		if !strings.Contains(f.Name(), ".") || f.Describe() == "" {
			t.Errorf("fact %q is not named component.subject, or says nothing of itself", f.Name())
		}
		for _, n := range f.Requires() {
			visit(n)
		}
	}
	for _, f := range checks.Facts(All()) {
		visit(f)
	}
}
