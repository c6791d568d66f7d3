package html

import (
	"fmt"
	"html/template"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// A node of the drawing is one rule that complains for one reason, on however
// many targets.
type node struct {
	check  checks.ID
	status checks.Status
	n      int
	depth  int
	parent int // -1 is none
	ids    []int
}

// nodes folds a problem and its symptoms, each below what brings it about.
func nodes(p report.Problem) []node {
	root := node{check: p.Check, status: p.Status, n: 1 + len(p.Also), parent: -1, ids: []int{0}}
	out := []node{root}
	var grow func(at int)
	grow = func(at int) {
		first := len(out)
		for i, s := range p.Symptoms {
			if !s.Status.Bad() || !has(out[at].ids, s.Of) {
				continue
			}
			j := first
			for ; j < len(out) && out[j].check != s.Check; j++ {
			}
			if j == len(out) {
				out = append(out, node{check: s.Check, depth: out[at].depth + 1, parent: at})
			}
			out[j].n++
			out[j].ids = append(out[j].ids, i+1)
			if out[j].n == 1 || s.Status.Severity() > out[j].status.Severity() {
				out[j].status = s.Status
			}
		}
		for j, end := first, len(out); j < end; j++ {
			grow(j)
		}
	}
	grow(0)
	return depthFirst(out)
}

func has(ids []int, id int) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}

// depthFirst orders nodes so that each stands right below its parent's last.
func depthFirst(in []node) []node {
	var out []node
	var visit func(at, parent int)
	visit = func(at, parent int) {
		n := in[at]
		n.parent = parent
		place := len(out)
		out = append(out, n)
		for i := range in {
			if in[i].parent == at {
				visit(i, place)
			}
		}
	}
	visit(0, -1)
	return out
}

const (
	rowHeight = 34
	boxHeight = 24
	step      = 22
	glyph     = 7.3 // the width of a character, at the size that page.css gives
)

// chart draws what a problem brings about: a box a rule, below its cause. A
// problem that explains nothing needs no drawing.
func chart(p report.Problem) template.HTML {
	ns := nodes(p)
	if len(ns) < 2 {
		return ""
	}
	width := 0.0
	label := func(n node) string {
		s := term.Clean(string(n.check))
		if n.n > 1 {
			s += fmt.Sprintf(" ×%d", n.n)
		}
		return s
	}
	for _, n := range ns {
		width = max(width, float64(n.depth*step)+glyph*float64(len([]rune(label(n))))+26)
	}
	svg := fmt.Sprintf(`<svg class="chain" role="img" aria-label="what brings about what" viewBox="0 0 %.0f %d" width="%.0f" height="%d">`, width+2, len(ns)*rowHeight, width+2, len(ns)*rowHeight)
	for i, n := range ns {
		x, y := n.depth*step+1, i*rowHeight+4
		if n.parent >= 0 {
			px, py := ns[n.parent].depth*step+1+10, n.parent*rowHeight+4+boxHeight
			svg += fmt.Sprintf(`<path class="edge" d="M%d %dV%dH%d"/><path class="tip" d="M%d %dl-6 -4v8z"/>`, px, py, y+boxHeight/2, x-1, x, y+boxHeight/2)
		}
		w := glyph*float64(len([]rune(label(n)))) + 24
		svg += fmt.Sprintf(`<rect class="box %s" x="%d" y="%d" width="%.0f" height="%d" rx="5"/><circle class="dot %s" cx="%d" cy="%d" r="4"/><text x="%d" y="%d">%s</text>`,
			n.status, x, y, w, boxHeight, n.status, x+10, y+boxHeight/2, x+19, y+boxHeight/2+4, template.HTMLEscapeString(label(n)))
	}
	return template.HTML(svg + "</svg>")
}
