package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

const (
	// nearNodes is how many nodes of each group are tried with edits of their own: the
	// nearest. More would say the same of other nodes.
	nearNodes = 2
	// mostNodes bounds how many nodes are tried in all.
	mostNodes = 80
	// mostChanges are shown; what is worse than these is of no use.
	mostChanges = 12
)

// Changes are the smallest ways to make the pod fit, the smallest and most
// harmless first. There are none for a pod that fits.
func (m *Model) Changes(pod *v1.Pod) []Change { return m.Ways(pod).Changes }

// Ways are the changes that make a pod fit, or else why none is known.
type Ways struct {
	Changes []Change `json:"changes,omitempty"`
	// None says of a pod that fits nowhere, and for which no change is known to help,
	// what stands in the way of all that were tried.
	None string `json:"none,omitempty"`
}

// Ways finds the smallest ways to make the pod fit, the smallest and most harmless
// first. A pod that fits has none, and no reason for it.
func (m *Model) Ways(pod *v1.Pod) Ways {
	v := m.Judge(pod)
	switch {
	case v.State == Fits:
		return Ways{}
	case v.State == Failing:
		return Ways{None: "the scheduler meets an error with the pod: what the error names has to be mended first"}
	case v.State == NotKnown || v.NumNodes == 0 && len(v.Unread) > 0:
		return Ways{None: "it depends on objects that could not be read"}
	}
	s := &search{seen: map[string]bool{}}
	start := variant{model: m, pod: pod}
	if len(v.Gates) > 0 {
		start = start.with(removeGates(pod, v.Gates))
		s.offer(start)
	}
	for _, begin := range s.unblocked(start, v.Blocked) {
		s.offer(begin)
		s.byEviction(begin)
		s.byNode(begin)
		s.byNewNode(begin)
	}
	slices.SortStableFunc(s.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.change.Edits), len(b.change.Edits)), cmp.Compare(b.change.Nodes, a.change.Nodes))
	})
	var out []Change
	for _, f := range s.minimal() {
		out = append(out, f.change)
		if len(out) == mostChanges {
			break
		}
	}
	if len(out) == 0 {
		return Ways{None: m.whyNone(pod, v)}
	}
	return Ways{Changes: out}
}

// whyNone says what stands in the way of any change.
func (m *Model) whyNone(pod *v1.Pod, v Verdict) string {
	var said []string
	say := func(s string) {
		if !slices.Contains(said, s) && len(said) < 3 {
			said = append(said, s)
		}
	}
	begin := variant{model: m, pod: pod}
	for i := range v.Blocked {
		f := &v.Blocked[i]
		switch {
		case f.Claim != nil && m.resourceClaims[f.Claim.Namespace+"/"+f.Claim.Name] == nil:
			say(f.Detail + ", and what it is to ask for is its owner's to say")
		case len(unblockOptions(begin, f)) == 0:
			say(f.Detail + ", which its controller or its owner has to put right")
		}
	}
	s := &search{}
	for _, g := range v.Groups {
		for i := range g.Failures {
			f := &g.Failures[i]
			if len(s.options(begin, g.Nodes[0], f)) == 0 {
				say("on " + g.Nodes[0] + " " + f.Detail)
			}
		}
	}
	if len(v.Unread) > 0 {
		say("whether more is in the way is not known, as not all objects could be read")
	}
	if len(said) == 0 {
		return "no single change of those that are tried makes it fit, and no two of them do"
	}
	return "nothing that could be proposed cures this: " + strings.Join(said, "; ")
}

// A variant is a copy of the cluster and the pod with some edits made.
type variant struct {
	model *Model
	pod   *v1.Pod
	edits []edit
	// node is where the pod is to go, where that is settled.
	node string
}

// An edit is one that is known how to make.
type edit struct {
	Edit
	text  string
	cost  float64
	harm  Harm
	waits string
	// do makes it. It may return a changed model or pod, and must not change what it gets.
	do func(m *Model, pod *v1.Pod) (*Model, *v1.Pod)
}

// what tells edits apart: pods are stopped alike, whatever for.
func (e *edit) what() string {
	if e.Pods == nil {
		return e.text
	}
	pods := slices.Clone(e.Pods)
	slices.SortFunc(pods, compareRefs)
	return fmt.Sprint("stop ", pods)
}

// with makes one edit more.
func (v variant) with(e edit) variant {
	if e.Pods != nil {
		// Pods that an edit before has stopped are not there any more.
		e.Pods = slices.DeleteFunc(slices.Clone(e.Pods), func(r Ref) bool {
			return slices.ContainsFunc(v.edits, func(o edit) bool { return slices.Contains(o.Pods, r) })
		})
		if len(e.Pods) == 0 {
			return v
		}
	}
	if e.Terms != nil {
		// Nor are they made anew.
		e.Terms = slices.DeleteFunc(slices.Clone(e.Terms), func(t PodTerm) bool {
			return slices.ContainsFunc(v.edits, func(o edit) bool { return slices.Contains(o.Pods, t.Pod) })
		})
		if len(e.Terms) == 0 {
			return v
		}
	}
	v.model, v.pod = e.do(v.model, v.pod)
	v.edits = append(slices.Clone(v.edits), e)
	return v
}

// A search gathers changes that are proved.
type search struct {
	seen  map[string]bool
	found []found
}

type found struct {
	change Change
	cost   float64
	parts  []string
}

// fits finds the nodes on which a variant's pod fits, only the one where that is
// settled.
func (v variant) fits() []string {
	c := v.model.cycle(v.pod)
	if len(c.blocked) > 0 || c.failing != "" || len(v.pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	var out []string
	var r result
	judge := func(n *nodeInfo) bool {
		r.reset()
		c.judgeNode(n, &r)
		if len(r.hits) == 0 && r.err == "" {
			out = append(out, n.node.Name)
		}
		return r.err == ""
	}
	if v.node != "" {
		if i, ok := v.model.byName[v.node]; ok {
			judge(v.model.nodes[i])
		}
	} else {
		for _, n := range v.model.nodes {
			if !judge(n) {
				return nil
			}
		}
	}
	if len(c.unread) > 0 {
		return nil
	}
	return out
}

// offer keeps a variant if the pod fits now.
func (s *search) offer(v variant) bool {
	if len(v.edits) == 0 {
		return false
	}
	var parts []string
	for _, e := range v.edits {
		parts = append(parts, e.what())
	}
	slices.Sort(parts)
	key := strings.Join(parts, "\x00")
	if s.seen[key] {
		return true
	}
	nodes := v.fits()
	if len(nodes) == 0 {
		return false
	}
	s.seen[key] = true
	change := Change{Node: nodes[0], Nodes: len(nodes), Harm: NoHarm}
	var cost float64
	var texts, waits []string
	for _, e := range v.edits {
		change.Edits = append(change.Edits, e.Edit)
		cost += e.cost
		change.Harm = worse(change.Harm, e.harm)
		texts = append(texts, e.text)
		if e.waits != "" && !slices.Contains(waits, e.waits) {
			waits = append(waits, e.waits)
		}
	}
	change.Summary, change.Waits = strings.Join(texts, " and "), strings.Join(waits, "; ")
	s.found = append(s.found, found{change, cost, parts})
	return true
}

func worse(a, b Harm) Harm {
	order := []Harm{NoHarm, PodOnly, Others, Disrupts}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// minimal leaves out what does more than another change that does as well.
func (s *search) minimal() []found {
	var out []found
	for _, f := range s.found {
		more := slices.ContainsFunc(out, func(o found) bool {
			if len(o.parts) > len(f.parts) {
				return false
			}
			for _, p := range o.parts {
				if !slices.Contains(f.parts, p) {
					return false
				}
			}
			return true
		})
		if !more {
			out = append(out, f)
		}
	}
	return out
}

// byNode tries to make the pod fit on nodes one by one, by an edit for each
// constraint that it fails there.
func (s *search) byNode(begin variant) {
	c := begin.model.cycle(begin.pod)
	if len(c.blocked) > 0 || c.failing != "" {
		return
	}
	verdict := begin.model.judge(begin.pod)
	tried := 0
	for _, g := range verdict.Groups {
		for _, name := range g.Nodes[:min(nearNodes, len(g.Nodes))] {
			if tried++; tried > mostNodes {
				return
			}
			s.onNode(begin, name, begin.model.Node(begin.pod, name))
		}
	}
}

// onNode tries all single edits where one constraint is in the way, and for more
// the combinations that change the pod alone, the cluster alone, and the cheapest.
func (s *search) onNode(begin variant, node string, failures []Failure) {
	options := make([][]edit, 0, len(failures))
	for i := range failures {
		o := s.options(begin, node, &failures[i])
		if len(o) == 0 {
			return
		}
		slices.SortStableFunc(o, func(a, b edit) int { return cmp.Compare(a.cost, b.cost) })
		options = append(options, o)
	}
	if len(options) == 1 {
		for _, e := range options[0] {
			s.attempt(begin, node, []edit{e})
		}
		return
	}
	for _, prefer := range []func(edit) bool{
		func(edit) bool { return true },
		func(e edit) bool { return e.harm == PodOnly },
		func(e edit) bool { return e.harm == Others || e.harm == NoHarm },
		func(e edit) bool { return e.harm == Disrupts },
	} {
		var combination []edit
		for _, o := range options {
			i := slices.IndexFunc(o, prefer)
			if i < 0 {
				i = 0
			}
			combination = append(combination, o[i])
		}
		s.attempt(begin, node, combination)
	}
}

// attempt makes edits and offers what comes of it. An edit may cure several
// constraints at once, so that one is left out where the others do.
func (s *search) attempt(begin variant, node string, edits []edit) {
	var distinct []edit
	podOnly := true
	for _, e := range edits {
		if !slices.ContainsFunc(distinct, func(o edit) bool { return o.text == e.text }) {
			distinct = append(distinct, e)
			podOnly = podOnly && e.harm == PodOnly
		}
	}
	without := func(leave int) variant {
		v := begin
		for i, e := range distinct {
			if i != leave {
				v = v.with(e)
			}
		}
		if !podOnly {
			v.node = node
		}
		return v
	}
	if len(distinct) > 1 {
		for i := range distinct {
			if s.offer(without(i)) {
				return
			}
		}
	}
	s.offer(without(-1))
}

func removeGates(pod *v1.Pod, gates []string) edit {
	return edit{Edit: Edit{Kind: RemoveGates, Object: podRef(pod)}, cost: 1, harm: NoHarm,
		text: "let the owner of the scheduling gates remove them: " + strings.Join(gates, ", "),
		do: func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
			p = p.DeepCopy()
			p.Spec.SchedulingGates = nil
			return m, p
		}}
}

// onPod is an edit of the pod.
func onPod(change func(*v1.Pod)) func(*Model, *v1.Pod) (*Model, *v1.Pod) {
	return func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
		p = p.DeepCopy()
		change(p)
		return m, p
	}
}

// onNode is an edit of a node.
func onNode(name string, change func(*v1.Node)) func(*Model, *v1.Pod) (*Model, *v1.Pod) {
	return func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
		i, ok := m.byName[name]
		if !ok {
			return m, p
		}
		n := m.nodes[i].node.DeepCopy()
		change(n)
		return m.withNode(n), p
	}
}

// stopped is an edit that takes pods from their nodes, also where an edit before
// had them made anew.
func stopped(pods []*podInfo) func(*Model, *v1.Pod) (*Model, *v1.Pod) {
	refs := map[Ref]bool{}
	for _, x := range pods {
		refs[podRef(x.pod)] = true
	}
	return func(m *Model, p *v1.Pod) (*Model, *v1.Pod) {
		gone := map[*podInfo]bool{}
		for _, n := range m.nodes {
			for _, x := range n.pods {
				if refs[podRef(x.pod)] {
					gone[x] = true
				}
			}
		}
		return m.without(gone), p
	}
}

// budgetsAgainst are those that stopping the pods would break.
func (m *Model) budgetsAgainst(pods []*podInfo) []Ref {
	var out []Ref
	for _, b := range m.budgets {
		allowed := b.pdb.Status.DisruptionsAllowed
		for _, p := range pods {
			if p.pod.Namespace != b.pdb.Namespace || !b.selector.Matches(p.labels) {
				continue
			}
			if _, ok := b.pdb.Status.DisruptedPods[p.pod.Name]; ok {
				continue
			}
			if allowed--; allowed < 0 {
				out = append(out, Ref{Kind: PodDisruptionBudgets, Namespace: b.pdb.Namespace, Name: b.pdb.Name})
				break
			}
		}
	}
	return out
}

func breaking(budgets []Ref) string {
	if len(budgets) == 0 {
		return ""
	}
	return fmt.Sprintf(", against the disruption budget %s", names(budgets))
}
