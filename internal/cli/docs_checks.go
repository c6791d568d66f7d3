package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
)

// checksIndex writes the list of checks, and what became of each rule of the
// catalogue.
func checksIndex(pages map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString(generatedNote + "# Checks\n\nEach demands a healthy state, and has a page: `ktriage explain CHECK`. At the end stands [what is\n" +
		"covered](#coverage) of the catalogue of rules that the checks come from, and [which false alarms](#false-alarms) are kept out.\n")
	link := func(id checks.ID) string { return fmt.Sprintf("[%s](%s)", id, pages[string(id)]) }
	for _, component := range collectors.Components {
		first := true
		for _, c := range all() {
			if c.Component != component {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n## %s\n\n| check | healthy state | reads |\n|---|---|---|\n", component)
				first = false
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", link(c.ID), cell(c.Title), facts(c))
		}
	}
	traps(&b, suite.Traps())
	coverage(&b, suite.Catalogue(), link)
	return b.Bytes()
}

// traps lists the false alarms that are known, and what keeps each out.
func traps(b *bytes.Buffer, all []suite.Trap) {
	b.WriteString("\n## False alarms\n\nTrue observations from which a wrong verdict is easily made. Each is held by tests, which fail if it is.\n\n" +
		"| what is seen | what ktriage does | held by |\n|---|---|---|\n")
	for _, t := range all {
		var held []string
		for _, h := range t.Held {
			switch {
			case h.Test != "":
				_, test, _ := strings.Cut(h.Test, " ")
				held = append(held, "`"+test+"`")
			default:
				held = append(held, "`"+h.Case+"`")
			}
		}
		for _, name := range t.Unread {
			held = append(held, "no fact reads `"+name+"`")
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", cell(t.What), cell(t.How), strings.Join(slices.Compact(held), ", "))
	}
}

func coverage(b *bytes.Buffer, sections []suite.Section, link func(checks.ID) string) {
	b.WriteString("\n## Coverage\n\nThe catalogue holds the rules that were found in the field: alerts that others ship, limits in the sources of\n" +
		"Kubernetes and etcd, what operators wrote about their outages.\n\n" +
		"| section | rules | checks of their own | said by another check | not implemented | undecided |\n|---|---|---|---|---|---|\n")
	var all, own, merged, rejected, open int
	for _, s := range sections {
		n := len(s.Rules) - len(s.Merged) - len(s.Rejected) - len(s.Open)
		fmt.Fprintf(b, "| %s %s | %d | %d | %d | %d | %d |\n", s.Number, s.Title, len(s.Rules), n, len(s.Merged), len(s.Rejected), len(s.Open))
		all, own, merged, rejected, open = all+len(s.Rules), own+n, merged+len(s.Merged), rejected+len(s.Rejected), open+len(s.Open)
	}
	fmt.Fprintf(b, "| all | %d | %d | %d | %d | %d |\n", all, own, merged, rejected, open)

	b.WriteString("\n### Said by another check\n\n| rule | check | how |\n|---|---|---|\n")
	for _, s := range sections {
		for _, m := range s.Merged {
			var into []string
			for _, id := range m.Into {
				into = append(into, link(id))
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", m.ID, strings.Join(into, ", "), cell(m.Why))
		}
	}
	b.WriteString("\n### Not implemented, because\n\n| rule | reason |\n|---|---|\n")
	for _, s := range sections {
		for _, r := range s.Rejected {
			fmt.Fprintf(b, "| %s | %s |\n", r.ID, cell(r.Why))
		}
	}
	if open > 0 {
		b.WriteString("\n### Undecided\n\n")
		for _, s := range sections {
			if len(s.Open) > 0 {
				fmt.Fprintf(b, "- %s %s: %s\n", s.Number, s.Title, list(s.Open))
			}
		}
	}
}

// facts lists what a check reads.
func facts(c *checks.Check) string {
	var out []string
	for _, f := range c.Needs {
		out = append(out, "`"+f.Name()+"`")
	}
	return strings.Join(out, " ")
}

// cell keeps a text within a table's cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
