package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
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
	label := string(c)
	if len(whole) > 0 {
		t.numbers(label, whole)
		label = ""
	}
	switch len(names) {
	case 0:
	case 1:
		if label == "" {
			label = " " + clean(names[0])
		} else if len(names[0])+len(label)+1 < labelWidth {
			label += " " + clean(names[0])
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
			words = append(words, clean(v.Name+" "+value(v)))
		case len(partNames) == 1: // one number by many parts: "qps GET 2/s, LIST 1/s"
			word := clean(v.Of + " " + value(v))
			if len(parts) == 0 {
				parts = []string{v.Name}
				word = v.Name + " by part: " + word
			}
			byPart[parts[0]] = append(byPart[parts[0]], word)
		default:
			if !slices.Contains(parts, v.Of) {
				parts = append(parts, v.Of)
			}
			byPart[v.Of] = append(byPart[v.Of], clean(v.Name+" "+value(v)))
		}
	}
	first := t.paint(color.Bold, label) + strings.Repeat(" ", max(1, labelWidth-columns(label)))
	rest := strings.Repeat(" ", labelWidth)
	if len(words) > 0 {
		t.joined(first, rest, words)
		first = rest
	}
	for _, p := range parts {
		ws := byPart[p]
		if len(partNames) > 1 {
			ws[0] = clean(p) + ": " + ws[0]
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
		if !empty && columns(line)+3+columns(w) > t.width {
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
		held := "held by " + clean(v.Text)
		if v.Text == "" {
			held = "held by nobody"
		}
		age := "under 1 s"
		if v.Value >= 1 {
			age = span(v.Value)
		}
		t.wrapped(first, strings.Repeat(" ", labelWidth+2), fmt.Sprintf("%s %s, renewed %s ago", clean(v.Target.Name), held, age))
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
		cells[[2]string{name, v.Target.Name}] = value(v)
	}
	first := max(labelWidth-2, columns(label))
	for _, n := range names {
		first = max(first, columns(clean(n)))
	}
	for len(targets) > 0 { // as many columns as fit; the others in a further table
		room, take := t.width-first, 0
		var widths []int
		for _, target := range targets {
			w := columns(clean(target))
			for _, n := range names {
				w = max(w, columns(clean(cells[[2]string{n, target}])))
			}
			if take > 0 && room < w+2 {
				break
			}
			room -= w + 2
			widths = append(widths, w)
			take++
		}
		line := t.paint(color.Bold, label) + strings.Repeat(" ", first-columns(label))
		for i, target := range targets[:take] {
			line += "  " + pad(t.paint(color.Bold, clean(target)), widths[i])
		}
		t.line(line)
		for _, n := range names {
			line, some := pad(clean(n), first), false
			for i, target := range targets[:take] {
				cell, ok := cells[[2]string{n, target}]
				if !ok {
					cell = "-"
				}
				some = some || ok
				line += "  " + pad(clean(cell), widths[i])
			}
			if some {
				t.line(line)
			}
		}
		targets, label = targets[take:], ""
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-columns(s))) }

// value writes a vital's number with its unit, and what it rests on where that
// is not the window or the moment.
func value(v vitals.Vital) string {
	var s string
	switch v.Unit {
	case "s":
		s = span(v.Value)
	case "B":
		s = checks.Bytes(int64(v.Value))
	case "%":
		s = checks.Percent(v.Value)
	case "1/s":
		s = number(v.Value) + "/s"
	default:
		s = number(v.Value)
	}
	if v.AtLeast {
		s = ">" + s
	}
	switch {
	case v.Text != "" && (v.Value == 1 || v.Value < 0): // the leader's name; "unlimited"
		s = v.Text
	case v.Text != "":
		s = v.Text + " " + s
	}
	switch v.Basis {
	case checks.OverLifetime:
		s += " (since start)"
	case checks.OverWindow:
		if v.Unit == "" {
			s += " (in window)"
		}
	}
	return s
}

// span writes seconds: exactly where they are few, else as a time.
func span(s float64) string {
	if s >= 60 {
		return checks.Span(time.Duration(s * float64(time.Second)))
	}
	return checks.Seconds(s)
}

func number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1e7, a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 0.1:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Vitals writes only the vitals of a report.
func Vitals(r *Report, o Options) string {
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
