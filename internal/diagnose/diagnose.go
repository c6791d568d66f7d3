package diagnose

import (
	"cmp"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// Strength says how well a link is evidenced. The zero value means that it
// does not fire.
type Strength int

// The strengths, weakest first.
const (
	No           Strength = iota
	CoOccurrence          // both are true now, and the one is known to bring about the other
	Temporal              // and they happened within the same minute
	Direct                // and a message, a name or an identifier ties them together
)

// A Link says that trouble found by one of Causes can bring about trouble, or
// a gap, found by one of Effects.
type Link struct {
	ID      string // of RULES' graph: "E6"
	Causes  []checks.ID
	Effects []checks.ID
	// When judges the evidence for one pair. Nil: they are on the same node,
	// or at least one of them is about its component as a whole.
	When    Predicate
	Because string // shown to the user, read as "symptom: because …"
	// Gaps makes the effects gaps of any check: what could not be asked, or
	// did not answer, because of the cause.
	Gaps bool
}

// A View is all findings of a run, for links whose evidence lies elsewhere.
type View struct{ Findings []checks.Finding }

// Bad reports whether a check found trouble on any target.
func (v View) Bad(id checks.ID) bool {
	return slices.ContainsFunc(v.Findings, func(f checks.Finding) bool { return f.Check == id && f.Status.Bad() })
}

// count is on how many targets a check found trouble.
func (v View) count(id checks.ID) int {
	n := 0
	for _, f := range v.Findings {
		if f.Check == id && f.Status.Bad() {
			n++
		}
	}
	return n
}

// A Symptom is a finding that another explains.
type Symptom struct {
	checks.Finding
	Because string
	Of      int // its direct cause among the problem's findings: 0 is the root or a sibling, n is Symptoms[n-1]
}

// A Problem is a finding that nothing else explains, with what it explains.
type Problem struct {
	Root     checks.Finding
	Siblings []checks.Finding // the same trouble on other targets
	Symptoms []Symptom
	// AlsoPossible are other findings that could explain some symptom.
	AlsoPossible []checks.Finding
	// Unseen is what could have shown a cause of the root, and was not seen.
	// Looked is set if there are checks that tell of causes, and all have run.
	Unseen   []Unseen
	Looked   bool
	strength Strength
}

// A Diagnosis is the outcome of a run. Every finding is in exactly one place.
type Diagnosis struct {
	Problems []Problem        // trouble that was seen, the most important first
	Unknown  []checks.Finding // gaps that no trouble explains
	Rest     []checks.Finding // ok, info and out of scope
}

// edge is a link that fires between two findings.
type edge struct {
	cause    int
	strength Strength
	because  string
}

// Diagnose separates the findings. A symptom with two possible causes goes to
// the better-evidenced one, and the problem names the other.
func Diagnose(findings []checks.Finding, links []Link) Diagnosis {
	view := View{findings}
	incoming := make([][]edge, len(findings))
	for e, f := range findings {
		if f.Status.Bad() || f.Status == checks.Unknown {
			incoming[e] = causes(view, links, e)
		}
	}
	parent := choose(findings, incoming)
	root := func(i int) int {
		for parent[i] != nil {
			i = parent[i].cause
		}
		return i
	}
	var d Diagnosis
	place := map[int]int{} // root → index in d.Problems
	byCheck := map[checks.ID]int{}
	for i, f := range findings {
		switch {
		case parent[i] != nil:
		case f.Status.Bad():
			n, ok := byCheck[f.Check]
			if !ok {
				n = len(d.Problems)
				byCheck[f.Check] = n
				d.Problems = append(d.Problems, Problem{Root: f})
			} else {
				d.Problems[n].join(f)
			}
			place[i] = n
		case f.Status == checks.Unknown:
			d.Unknown = append(d.Unknown, f)
		default:
			d.Rest = append(d.Rest, f)
		}
	}
	order := make(map[int]int) // finding → its index within its problem
	for _, i := range byDepth(parent) {
		if parent[i] == nil {
			continue
		}
		p := &d.Problems[place[root(i)]]
		p.Symptoms = append(p.Symptoms, Symptom{Finding: findings[i], Because: parent[i].because, Of: order[parent[i].cause]})
		order[i] = len(p.Symptoms)
		p.strength = max(p.strength, parent[i].strength)
		for _, e := range incoming[i] {
			other := root(e.cause)
			if place[other] == place[root(i)] {
				continue
			}
			o := findings[other]
			if !slices.ContainsFunc(p.AlsoPossible, func(f checks.Finding) bool { return f.Check == o.Check && f.Target.Is(o.Target) }) {
				p.AlsoPossible = append(p.AlsoPossible, o)
			}
		}
	}
	for i := range d.Problems {
		p := &d.Problems[i]
		p.Unseen, p.Looked = unseen(view, links, Edges, p.Root)
	}
	slices.SortStableFunc(d.Problems, rank)
	return d
}

// causes lists what could explain a finding.
func causes(v View, links []Link, e int) []edge {
	effect := v.Findings[e]
	var out []edge
	for _, l := range links {
		if l.Gaps && effect.Status != checks.Unknown || !l.Gaps && (!effect.Status.Bad() || !slices.Contains(l.Effects, effect.Check)) {
			continue
		}
		for c, cause := range v.Findings {
			if c == e || !cause.Status.Bad() || !slices.Contains(l.Causes, cause.Check) {
				continue
			}
			s := when(l, cause, effect, v)
			if s == CoOccurrence && effect.Marked(OwnEvidence) {
				s = No
			}
			if s > No {
				out = append(out, edge{c, s, l.Because})
			}
		}
	}
	return out
}

// OwnEvidence marks a finding whose own evidence names it as a cause: an
// expired certificate is never folded away because something else is wrong too.
const OwnEvidence = "own-evidence"

// when asks a link's predicate. One that panics has no evidence.
func when(l Link, cause, effect checks.Finding, v View) (s Strength) {
	defer func() {
		if recover() != nil {
			s = No
		}
	}()
	if l.When == nil {
		return SamePlace(cause, effect, v)
	}
	s = l.When(cause, effect, v)
	if l.Gaps && effect.Gap != nil {
		// What could not be compared is explained by what explains the look that failed.
		if look := effect.Gap.FailedLook(); look != nil {
			effect.Gap = look
			s = max(s, l.When(cause, effect, v))
		}
	}
	return s
}

// SamePlace fires where both findings are about the same node, or one of them
// is about its component as a whole.
func SamePlace(cause, effect checks.Finding, _ View) Strength {
	a, b := node(cause.Target), node(effect.Target)
	if a == "" || b == "" || a == b {
		return CoOccurrence
	}
	return No
}

func node(t collectors.Target) string { return cmp.Or(t.Node, t.Name) }

// Anywhere fires wherever the two findings are.
func Anywhere(_, _ checks.Finding, _ View) Strength { return CoOccurrence }

// Surely fires wherever the two findings are, as direct evidence: where the
// cause leaves no room for the effect to be anything else.
func Surely(_, _ checks.Finding, _ View) Strength { return Direct }

// choose picks for each finding the best-evidenced cause that does not, through
// what explains it, lead back to the finding itself.
func choose(fs []checks.Finding, incoming [][]edge) []*edge {
	parent := make([]*edge, len(fs))
	behind := make([]int, len(fs))
	for i := range fs {
		behind[i] = ancestors(incoming, i)
	}
	for e := range fs {
		es := slices.Clone(incoming[e])
		slices.SortStableFunc(es, func(a, b edge) int {
			return cmp.Or(
				-cmp.Compare(a.strength, b.strength),
				// The nearer cause, that with the most behind it: it stands
				// between the root and this finding.
				-cmp.Compare(behind[a.cause], behind[b.cause]),
				-cmp.Compare(fs[a.cause].Status.Severity(), fs[b.cause].Status.Severity()),
			)
		})
		for _, c := range es {
			if !leadsTo(parent, c.cause, e) {
				parent[e] = &c
				break
			}
		}
	}
	nearest(incoming, parent)
	return parent
}

// nearest hangs each finding below the last stage before it: where what explains
// it explains another finding, too, which in turn could explain it, then the way
// led through that. The root stays the same.
func nearest(incoming [][]edge, parent []*edge) {
	depth := func(i int) (d int) {
		for ; parent[i] != nil; i = parent[i].cause {
			d++
		}
		return d
	}
	for e := range parent {
		if parent[e] == nil {
			continue
		}
		first := parent[e].cause
		best, most := parent[e], depth(first)
		for _, x := range incoming[e] {
			if d := depth(x.cause); d > most && leadsTo(parent, x.cause, first) && !leadsTo(parent, x.cause, e) {
				best, most = &x, d
			}
		}
		parent[e] = best
	}
}

// ancestors counts the findings that could, directly or not, explain one.
func ancestors(incoming [][]edge, i int) int {
	seen := map[int]bool{i: true}
	todo := []int{i}
	for len(todo) > 0 {
		i, todo = todo[0], todo[1:]
		for _, e := range incoming[i] {
			if !seen[e.cause] {
				seen[e.cause] = true
				todo = append(todo, e.cause)
			}
		}
	}
	return len(seen) - 1
}

// leadsTo reports whether i is explained, directly or not, by e.
func leadsTo(parent []*edge, i, e int) bool {
	for {
		if i == e {
			return true
		}
		if parent[i] == nil {
			return false
		}
		i = parent[i].cause
	}
}

// byDepth lists findings so that each comes after what explains it.
func byDepth(parent []*edge) []int {
	depth := func(i int) (d int) {
		for parent[i] != nil {
			i = parent[i].cause
			d++
		}
		return d
	}
	out := make([]int, len(parent))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(depth(a), depth(b)) })
	return out
}

// join adds the same trouble on another target. The root is the worst of them
// and, of those, the leader's, then one on the way of every write.
func (p *Problem) join(f checks.Finding) {
	weight := func(f checks.Finding) int {
		w := 4 * f.Status.Severity()
		if f.Marked(Leader) {
			w += 2
		}
		if f.Marked(WritePath) {
			w++
		}
		return w
	}
	if weight(f) > weight(p.Root) {
		p.Root, f = f, p.Root
	}
	p.Siblings = append(p.Siblings, f)
}

// rank orders problems: by severity of the worst that they hold, by how much
// they explain, by how well that is evidenced, then as components stand in a
// report, deepest first.
func rank(a, b Problem) int {
	return cmp.Or(
		-cmp.Compare(a.Status().Severity(), b.Status().Severity()),
		-cmp.Compare(len(a.Symptoms), len(b.Symptoms)),
		-cmp.Compare(a.strength, b.strength),
		cmp.Compare(slices.Index(collectors.Components, a.Root.Target.Component), slices.Index(collectors.Components, b.Root.Target.Component)),
		cmp.Compare(a.Root.Check, b.Root.Check),
		collectors.CompareTargets(a.Root.Target, b.Root.Target),
	)
}

// Status is that of the worst in the problem: what makes everything else fail
// is what to look at first, however mild it is by itself.
func (p Problem) Status() checks.Status {
	worst := p.Root.Status
	for _, s := range p.Symptoms {
		if s.Status.Bad() && s.Status.Severity() > worst.Severity() {
			worst = s.Status
		}
	}
	return worst
}
