package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/internal/vitals"
)

// A table is the numbers of one component: a row a number, a column a target.
type table struct {
	Component string
	Targets   []string
	Rows      []row
}

type row struct {
	Name  string
	Cells []cell
}

type cell struct {
	Text    string
	Bar     template.HTML
	Buckets template.HTML // how the observations are spread that a quantile is of
	Course  template.HTML // what the number was in earlier runs
}

// tables lays out the numbers. Of a number that several targets have, each is
// drawn as a bar beside the others; a size that has a quota, as a part of it.
func tables(r *report.Report, past []Past) []table {
	var out []table
	before := courses(past)
	for vs := r.Vitals; len(vs) > 0; {
		c := vs[0].Component
		n := slices.IndexFunc(vs, func(v vitals.Vital) bool { return v.Component != c })
		if n < 0 {
			n = len(vs)
		}
		out = append(out, tableOf(c, vs[:n], before))
		vs = vs[n:]
	}
	return out
}

func tableOf(c collectors.Component, vs []vitals.Vital, before map[string][]point) table {
	t := table{Component: term.Clean(string(c))}
	if c == collectors.Leases {
		for _, v := range vs {
			t.Rows = append(t.Rows, row{term.Clean(v.Target.Name), []cell{{Text: term.Clean(v.Held())}}})
		}
		return t
	}
	for _, v := range vs {
		if !slices.Contains(t.Targets, v.Target.Name) {
			t.Targets = append(t.Targets, v.Target.Name)
		}
	}
	type at struct{ name, target string }
	numbers := map[at][]vitals.Vital{}
	var names []string
	for _, v := range vs {
		name := strings.TrimSpace(v.Name + " " + v.Of)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		numbers[at{name, v.Target.Name}] = append(numbers[at{name, v.Target.Name}], v)
	}
	for _, name := range names {
		most, have := 0.0, 0 // targets with just one number of that name
		for _, target := range t.Targets {
			if of := numbers[at{name, target}]; len(of) == 1 {
				most = max(most, of[0].Value)
				have++
			}
		}
		x := row{Name: term.Clean(name)}
		for _, target := range t.Targets {
			var words []string
			var drawn, spread, over template.HTML
			for _, v := range numbers[at{name, target}] {
				words = append(words, term.Clean(v.String()))
				spread += buckets(v)
				if len(numbers[at{name, target}]) == 1 {
					over = course(v, before[key(v)])
				}
				switch quota := numbers[at{"db quota", target}]; {
				case (v.Name == "db size" || v.Name == "db in use") && len(quota) == 1 && quota[0].Value > 0:
					drawn = bar(v.Value / quota[0].Value)
				case v.Unit == "%":
					drawn = bar(v.Value / 100)
				case have > 1 && most > 0 && v.Text == "" && len(numbers[at{name, target}]) == 1:
					drawn = bar(v.Value / most)
				}
			}
			x.Cells = append(x.Cells, cell{strings.Join(words, " · "), drawn, spread, over})
		}
		t.Rows = append(t.Rows, x)
	}
	for i := range t.Targets {
		t.Targets[i] = term.Clean(t.Targets[i])
	}
	return t
}

// bar draws a part of the whole.
func bar(part float64) template.HTML {
	const width = 60
	w := width * min(1, max(0, part))
	if !(w >= 0) { // what is no number
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" aria-hidden="true" width="%d" height="8" viewBox="0 0 %d 8"><rect class="track" width="%d" height="8" rx="2"/><rect class="fill" width="%.1f" height="8" rx="2"/></svg>`, width, width, width, w))
}
