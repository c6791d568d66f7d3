package collectors

import "slices"

// A pending fact is one that is being collected.
type pending struct {
	fact  Any
	needs map[string]bool // all facts that it is made from, however indirectly

	urgency int        // how many facts are asked by what it says, however indirectly
	unknown int        // how many of those that it needs itself are not known yet
	waiting []*pending // those that need this one themselves
	late    bool       // it is derived from what is known only after the window

	job   job  // of a fact whose needs are known
	open  int  // requests that are not answered yet
	again bool // its last look is being taken
}

// plan lists the facts that can be asked at once. The others follow from
// these, as each becomes known.
func plan(facts []Any) []*pending {
	all := map[string]*pending{}
	var ready []*pending
	var visit func(Any) *pending
	visit = func(f Any) *pending {
		if p := all[f.Name()]; p != nil {
			return p
		}
		p := &pending{fact: f, needs: map[string]bool{}}
		all[f.Name()] = p
		for _, n := range f.Requires() {
			q := visit(n)
			if slices.Contains(q.waiting, p) {
				continue // named twice
			}
			q.waiting = append(q.waiting, p)
			p.unknown++
			p.needs[n.Name()] = true
			for name := range q.needs {
				p.needs[name] = true
			}
		}
		if p.unknown == 0 {
			ready = append(ready, p)
		}
		return p
	}
	for _, f := range facts {
		visit(f)
	}
	for _, p := range all {
		if !p.fact.Asks() {
			continue
		}
		for name := range p.needs {
			all[name].urgency++
		}
	}
	return ready
}

// known notes that the fact is, and returns those that waited for it alone.
func (p *pending) known() []*pending {
	var out []*pending
	for _, w := range p.waiting {
		w.late = w.late || p.isLate()
		if w.unknown--; w.unknown == 0 {
			out = append(out, w)
		}
	}
	return out
}

// isLate reports whether the fact is known only after the window: it looks
// twice, or is derived from what does.
func (p *pending) isLate() bool {
	asks := false
	for _, t := range p.job.tasks() {
		for _, r := range t.requests {
			asks = true
			if r.Sample == Last {
				return true
			}
		}
	}
	return p.late && !asks
}

// looks reports whether the fact looks twice, and whether its first look was
// answered.
func (p *pending) looks() (twice, seen bool) {
	seen = true
	for _, t := range p.job.tasks() {
		for i, r := range t.requests {
			twice = twice || r.Sample == Last
			seen = seen && (r.Sample != First || t.answers[i].Gap == nil)
		}
	}
	return twice, twice && seen
}
