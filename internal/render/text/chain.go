package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// symptoms writes what a problem explains: the longest chain in one line, the
// symptoms as a tree with each below what brings it about, and what cannot be
// known for it.
func (t *text) symptoms(p report.Problem) {
	var hops []string
	for _, h := range p.Chain() {
		hops = append(hops, term.Clean(string(h.Check)))
	}
	if len(hops) > 0 {
		t.wrapped(indent+"chain: ", indent+"       ", strings.Join(hops, " → "))
	}
	if slices.ContainsFunc(p.Symptoms, func(s report.Symptom) bool { return s.Status.Bad() }) {
		t.line(indent + "explains:")
		left := mostGroups
		if t.o.Verbose {
			left = len(p.Symptoms)
		}
		if n := t.tree(p.Symptoms, []int{0}, indent, &left); n > 0 {
			t.line(indent + fmt.Sprintf("and %s more (-v shows them)", checks.Count(n, "symptom")))
		}
	}
	t.gaps(p.Symptoms)
}

// mostGroups is how many lines of symptoms are read at 3 a.m.; the worst trouble
// tried on the lab has twelve.
const mostGroups = 16

// tree writes the symptoms whose direct cause is one of those, each with its own
// below it. Those of one check and one reason stand together, and what they bring
// about, too. It returns how many it left out.
func (t *text) tree(ss []report.Symptom, of []int, prefix string, left *int) (out int) {
	type group struct {
		first report.Symptom
		index []int // as Of names them
	}
	var groups []*group
	for i, s := range ss {
		if !s.Status.Bad() || !slices.Contains(of, s.Of) {
			continue
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.first.Check == s.Check && g.first.Because == s.Because })
		if at < 0 {
			groups = append(groups, &group{first: s, index: []int{i + 1}})
			continue
		}
		g := groups[at]
		g.index = append(g.index, i+1)
		if s.Status.Severity() > g.first.Status.Severity() {
			g.first = s
		}
	}
	for _, g := range groups {
		if *left <= 0 {
			out += len(g.index) + below(ss, g.index)
			continue
		}
		*left--
		s := g.first
		body := fmt.Sprintf("%s %s: %s", s.Status, term.Clean(s.Target.String()), term.Clean(s.Summary))
		if n := len(g.index); n > 1 {
			body += fmt.Sprintf(" (and %d more)", n-1)
		}
		t.wrapped(prefix+"└ ", prefix+"  ", body)
		t.wrapped(prefix+"  ", prefix+"  ", t.o.faint("because "+term.Clean(s.Because)))
		out += t.tree(ss, g.index, prefix+"  ", left)
	}
	return out
}

// below counts the symptoms, gaps left out, under those.
func below(ss []report.Symptom, of []int) (n int) {
	for i, s := range ss {
		if s.Status.Bad() && slices.Contains(of, s.Of) {
			n += 1 + below(ss, []int{i + 1})
		}
	}
	return n
}

// gaps writes what cannot be known because of the problem, by why not.
func (t *text) gaps(ss []report.Symptom) {
	var whys []string
	by := map[string][]string{} // why → the targets, as often as they lack a verdict
	total := 0
	for _, s := range ss {
		if s.Status != checks.Unknown {
			continue
		}
		if by[s.Because] == nil {
			whys = append(whys, s.Because)
		}
		by[s.Because] = append(by[s.Because], term.Clean(s.Target.String()))
		total++
	}
	if total == 0 {
		return
	}
	slices.SortStableFunc(whys, func(a, b string) int { return len(by[b]) - len(by[a]) })
	t.line(indent + fmt.Sprintf("so not judged: %s", checks.Count(total, "verdict")))
	for _, why := range whys {
		on := slices.Compact(slices.Sorted(slices.Values(by[why])))
		t.wrapped(indent+"- ", indent+"  ", fmt.Sprintf("%d on %s: %s", len(by[why]), checks.List(on, 3), term.Clean(why)))
	}
}
