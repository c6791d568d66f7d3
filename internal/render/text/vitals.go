package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/internal/vitals"
)

// vitals writes what each component is doing: what there is one of in a few
// lines, what there are several of in a table with a column each.
func (t *text) vitals(vs []vitals.Vital) {
	for len(vs) > 0 {
		c := vs[0].Component
		n := slices.IndexFunc(vs, func(v vitals.Vital) bool { return v.Component != c })
		if n < 0 {
			n = len(vs)
		}
		t.component(c, vs[:n])
		vs = vs[n:]
	}
}

// labelWidth is the column in which a component's numbers begin.
const labelWidth = 12

func (t *text) component(c collectors.Component, vs []vitals.Vital) {
	if c == collectors.Leases {
		t.leases(vs)
		return
	}
	var whole []vitals.Vital
	var names []string // of targets
	for _, v := range vs {
		switch {
		case v.Target.Name == "":
			whole = append(whole, v)
		case !slices.Contains(names, v.Target.Name):
			names = append(names, v.Target.Name)
		}
	}
	label := term.Clean(string(c))
	if len(whole) > 0 {
		t.numbers(label, whole)
		label = ""
	}
	switch len(names) {
	case 0:
	case 1:
		if label == "" {
			label = " " + term.Clean(names[0])
		} else if len(names[0])+len(label)+1 < labelWidth {
			label += " " + term.Clean(names[0])
		}
		t.numbers(label, slices.DeleteFunc(slices.Clone(vs), func(v vitals.Vital) bool { return v.Target.Name == "" }))
	default:
		t.table(label, names, vs)
	}
}

// numbers writes vitals one behind the other. Those of one name and several
// parts stand together, as do those of one part and several names.
func (t *text) numbers(label string, vs []vitals.Vital) {
	var words, parts []string
	byPart := map[string][]string{}
	partNames := map[string]bool{}
	for _, v := range vs {
		if v.Of != "" {
			partNames[v.Name] = true
		}
	}
	for _, v := range vs {
		switch {
		case v.Of == "":
			words = append(words, term.Clean(v.Name+" "+v.String()))
		case len(partNames) == 1: // one number by many parts: "qps GET 2/s, LIST 1/s"
			word := term.Clean(v.Of + " " + v.String())
			if len(parts) == 0 {
				parts = []string{term.Clean(v.Name)}
				word = term.Clean(v.Name) + " by part: " + word
			}
			byPart[parts[0]] = append(byPart[parts[0]], word)
		default:
			if !slices.Contains(parts, v.Of) {
				parts = append(parts, v.Of)
			}
			byPart[v.Of] = append(byPart[v.Of], term.Clean(v.Name+" "+v.String()))
		}
	}
	first := t.paint(color.Bold, label) + strings.Repeat(" ", max(1, labelWidth-term.Columns(label)))
	rest := strings.Repeat(" ", labelWidth)
	if len(words) > 0 {
		t.joined(first, rest, words)
		first = rest
	}
	for _, p := range parts {
		ws := byPart[p]
		if len(partNames) > 1 {
			ws[0] = term.Clean(p) + ": " + ws[0]
		} else {
			ws[0] = strings.Replace(ws[0], " by part:", "", 1)
		}
		t.joined(first, rest+"  ", ws)
		first = rest
	}
}

// joined writes words on lines, with a dot between them, and breaks only there.
func (t *text) joined(first, rest string, words []string) {
	line, empty := first, true
	for _, w := range words {
		if !empty && term.Columns(line)+3+term.Columns(w) > t.width {
			t.line(line)
			line, empty = rest, true
		}
		if !empty {
			line += " · "
		}
		line += w
		empty = false
	}
	t.line(line)
}

// leases writes a line a lease: who holds it.
func (t *text) leases(vs []vitals.Vital) {
	const most = 6
	first := t.paint(color.Bold, "leases") + strings.Repeat(" ", labelWidth-len("leases"))
	for i, v := range vs {
		if i == most && len(vs) > most+1 && !t.o.Verbose {
			t.line(first + fmt.Sprintf("and %d more", len(vs)-most))
			return
		}
		t.wrapped(first, strings.Repeat(" ", labelWidth+2), term.Clean(v.Target.Name+" "+v.Held()))
		first = strings.Repeat(" ", labelWidth)
	}
}

// table writes a line a number and a column a target.
func (t *text) table(label string, targets []string, vs []vitals.Vital) {
	var names []string
	cells := map[[2]string]string{}
	for _, v := range vs {
		if v.Target.Name == "" {
			continue
		}
		name := strings.TrimSpace(v.Name + " " + v.Of)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		cells[[2]string{name, v.Target.Name}] = v.String()
	}
	first := max(labelWidth-2, term.Columns(label))
	for _, n := range names {
		first = max(first, term.Columns(term.Clean(n)))
	}
	for len(targets) > 0 { // as many columns as fit; the others in a further table
		room, take := t.width-first, 0
		var widths []int
		for _, target := range targets {
			w := term.Columns(term.Clean(target))
			for _, n := range names {
				w = max(w, term.Columns(term.Clean(cells[[2]string{n, target}])))
			}
			if take > 0 && room < w+2 {
				break
			}
			room -= w + 2
			widths = append(widths, w)
			take++
		}
		line := t.paint(color.Bold, label) + strings.Repeat(" ", first-term.Columns(label))
		for i, target := range targets[:take] {
			line += "  " + pad(t.paint(color.Bold, term.Clean(target)), widths[i])
		}
		t.line(line)
		for _, n := range names {
			line, some := pad(term.Clean(n), first), false
			for i, target := range targets[:take] {
				cell, ok := cells[[2]string{n, target}]
				if !ok {
					cell = "-"
				}
				some = some || ok
				line += "  " + pad(term.Clean(cell), widths[i])
			}
			if some {
				t.line(line)
			}
		}
		targets, label = targets[take:], ""
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-term.Columns(s))) }

// Vitals writes only the vitals of a report.
func Vitals(r *report.Report, o Options) string {
	var b strings.Builder
	t := newText(&b, o)
	t.header(r)
	if len(r.Vitals) > 0 {
		t.line("")
		t.vitals(r.Vitals)
	}
	t.w.Flush()
	return b.String()
}
