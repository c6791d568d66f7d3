package etcdview

import (
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/internal/term"
)

// width is how many columns a text has that is not asked to be wide.
const width = 80

// A table is rows of cells with a title each. A column whose title ends in ">"
// is aligned to the right, without it.
type table struct {
	titles []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// rowwise writes a line a row.
func (t *table) rowwise(b *strings.Builder) {
	widths := make([]int, len(t.titles))
	right := make([]bool, len(t.titles))
	titles := make([]string, len(t.titles))
	for i, s := range t.titles {
		titles[i], right[i] = strings.CutSuffix(s, ">")
		widths[i] = term.Columns(titles[i])
	}
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], term.Columns(term.Clean(c)))
		}
	}
	some := make([]bool, len(t.titles)) // columns of which some cell says anything
	for _, r := range t.rows {
		for i, c := range r {
			some[i] = some[i] || c != ""
		}
	}
	for _, r := range append([][]string{titles}, t.rows...) {
		line := ""
		for i, c := range r {
			if !some[i] {
				continue
			}
			c = term.Clean(c)
			gap := strings.Repeat(" ", widths[i]-term.Columns(c))
			if i > 0 {
				line += "  "
			}
			if right[i] {
				line += gap + c
			} else {
				line += c + gap
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// columnwise writes a column a row, as many as fit beside each other, and the
// others below. Titles of which no cell says anything are left out.
func (t *table) columnwise(b *strings.Builder) {
	first := 0
	for _, s := range t.titles {
		first = max(first, term.Columns(s))
	}
	rows := t.rows
	for n := 0; len(rows) > 0; n++ {
		room, take := width-first, 0
		var widths []int
		for _, r := range rows {
			w := 0
			for _, c := range r {
				w = max(w, term.Columns(term.Clean(c)))
			}
			if take > 0 && room < w+2 {
				break
			}
			room -= w + 2
			widths = append(widths, w)
			take++
		}
		if n > 0 {
			b.WriteString("\n")
		}
		for i, title := range t.titles {
			line, some := title+strings.Repeat(" ", first-term.Columns(title)), false
			for j, r := range rows[:take] {
				c := term.Clean(r[i])
				some = some || c != ""
				line += "  " + c + strings.Repeat(" ", widths[j]-term.Columns(c))
			}
			if some {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
			}
		}
		rows = rows[take:]
	}
}

// said writes a paragraph: its first line with one indent, the others with
// another.
func said(b *strings.Builder, first, later, format string, a ...any) {
	for i, l := range term.Wrap(term.Clean(fmt.Sprintf(format, a...)), width-len(later)) {
		if i == 0 {
			b.WriteString(first)
		} else {
			b.WriteString(later)
		}
		b.WriteString(l + "\n")
	}
}

// Clean writes a text out of a cluster so that a terminal takes it for text.
func Clean(s string) string { return term.Clean(s) }
