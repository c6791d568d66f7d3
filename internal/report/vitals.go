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

// vitals writes a table a component: a line a number, a column a target.
func (t *text) vitals(vs []vitals.Vital) {
	for len(vs) > 0 {
		c := vs[0].Component
		n := slices.IndexFunc(vs, func(v vitals.Vital) bool { return v.Component != c })
		if n < 0 {
			n = len(vs)
		}
		t.table(c, vs[:n])
		vs = vs[n:]
	}
}

func (t *text) table(c collectors.Component, vs []vitals.Vital) {
	var names, targets []string
	cells := map[[2]string]string{}
	for _, v := range vs {
		target := v.Target.Name
		if v.Component == collectors.Leases { // of a lease there is one number: its targets are the lines
			target = ""
			v.Name = v.Target.Name
		}
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
		cells[[2]string{v.Name, target}] = value(v)
	}
	for len(targets) > 0 { // as many columns as fit; the others in a further table
		first := columns(string(c))
		for _, n := range names {
			first = max(first, columns(clean(n)))
		}
		room, take := t.width-first, 0
		widths := []int{}
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
		line := t.paint(color.Bold, string(c)) + strings.Repeat(" ", first-len(c))
		for i, target := range targets[:take] {
			line += "  " + pad(clean(target), widths[i])
		}
		t.line(line)
		for _, n := range names {
			line, any := pad(clean(n), first), false
			for i, target := range targets[:take] {
				cell, ok := cells[[2]string{n, target}]
				if !ok {
					cell = "-"
				}
				any = any || ok
				line += "  " + pad(clean(cell), widths[i])
			}
			if any {
				t.line(line)
			}
		}
		targets = targets[take:]
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-columns(s))) }

// value writes a vital's number with its unit, its text behind it, and what it
// rests on where that is not the window or the moment.
func value(v vitals.Vital) string {
	var s string
	switch v.Unit {
	case "s":
		if s = checks.Seconds(v.Value); v.Value >= 60 {
			s = checks.Span(time.Duration(v.Value * float64(time.Second)))
		}
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
	if v.Text != "" {
		s = strings.TrimSpace(v.Text + " " + s)
		if v.Unit == "" && v.Value == 0 {
			s = v.Text
		}
	}
	if v.Basis == checks.OverLifetime && (v.Unit == "s" || v.Unit == "%") {
		s += " (since start)"
	}
	return s
}

func number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1e7:
		return fmt.Sprintf("%.0f", x)
	case a >= 100:
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
