package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// An Unseen is what could have shown a cause of a problem, and was not seen.
type Unseen struct {
	What string // checks, or what ktriage does not look at at all
	Why  string // why not; empty for the latter
}

// String joins the two.
func (u Unseen) String() string {
	if u.Why == "" {
		return u.What
	}
	return fmt.Sprintf("%s (%s)", u.What, u.Why)
}

// unseen lists what could have shown a cause of a finding that nothing explains,
// and whether each check that is known to tell one has run. What was looked at
// and found in order is no part of it.
func unseen(v View, links []Link, edges []Edge, root checks.Finding) (out []Unseen, looked bool) {
	type group struct {
		why string
		ids []string
	}
	var groups []*group
	ran := map[checks.ID]bool{}
	for _, f := range v.Findings {
		ran[f.Check] = true
	}
	known, missed := false, false
	for _, l := range links {
		if l.Gaps || !slices.Contains(l.Effects, root.Check) {
			continue
		}
		known = true
		missed = missed || slices.ContainsFunc(l.Causes, func(id checks.ID) bool { return !ran[id] })
		for _, f := range v.Findings {
			why, blind := blindness(f)
			if !blind || !slices.Contains(l.Causes, f.Check) || when(l, supposed(f, root), root, v) == No {
				continue
			}
			i := slices.IndexFunc(groups, func(g *group) bool { return g.why == why })
			if i < 0 {
				i = len(groups)
				groups = append(groups, &group{why: why})
			}
			if id := string(f.Check); !slices.Contains(groups[i].ids, id) {
				groups[i].ids = append(groups[i].ids, id)
			}
		}
	}
	for _, e := range edges {
		if e.Unseen != "" && slices.Contains(e.Of, root.Check) {
			out = append(out, Unseen{What: e.Unseen})
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return len(b.ids) - len(a.ids) })
	for _, g := range groups {
		out = append(out, Unseen{checks.List(g.ids, 3), g.why})
	}
	return out, known && !missed
}

// blindness tells why a finding is no verdict, where there may be something to
// see. That nothing is there, as no webhook is, hides nothing.
func blindness(f checks.Finding) (why string, blind bool) {
	switch {
	case f.Gap == nil:
		return "", false
	case f.Status == checks.Unknown:
		return string(f.Gap.Reason), true
	case f.Gap.Kind == collectors.Hidden:
		return f.Gap.Detail, true
	}
	return "", false
}

// supposed is a finding as bad, and as telling, as it could have been had it
// been judged.
func supposed(f, effect checks.Finding) checks.Finding {
	f.Status, f.Gap = checks.Critical, nil
	f.Marks = append([]string{Leader, WritePath, Hangs, "may-not-bind", "most", "expired", "401", "403", "by=webhook call", "takes=leases", "takes=nodes/status", "takes=pods/binding"}, effect.Marks...)
	for _, r := range marked(effect, "resource=") {
		f.Marks = append(f.Marks, "takes="+r)
	}
	f.Numbers = map[string]float64{"unwelcome": 1, "left": -1, "spare": 0, "used": 1, "ratio": 1}
	return f
}

// Why says what is known of the cause of a problem's root, which nothing
// explains: what could have shown it and was not seen. It is empty for what
// nothing is known to bring about, and where not all checks were run.
func (p Problem) Why() string {
	if len(p.Unseen) > 0 {
		var parts []string
		for _, u := range p.Unseen[:min(len(p.Unseen), mostUnseen)] {
			parts = append(parts, u.String())
		}
		if n := len(p.Unseen) - mostUnseen; n > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", n))
		}
		return "nothing ktriage can see explains this; it cannot see " + strings.Join(parts, "; ")
	}
	if p.Looked {
		return "nothing explains this: all that is known to bring it about was looked at"
	}
	return ""
}

const mostUnseen = 3

// Chain lists the findings from a problem's root to the symptom of that index,
// by their targets and checks.
func (p Problem) Chain(symptom int) []Hop {
	var out []Hop
	for i := symptom + 1; i > 0; i = p.Symptoms[i-1].Of {
		out = append(out, Hop{p.Symptoms[i-1].Check, p.Symptoms[i-1].Target})
	}
	out = append(out, Hop{p.Root.Check, p.Root.Target})
	slices.Reverse(out)
	return out
}

// A Hop is one finding of a chain.
type Hop struct {
	Check  checks.ID         `json:"check"`
	Target collectors.Target `json:"target"`
}
