package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// An eviction is the pods to stop on a node so that another fits there.
type eviction struct {
	node       *nodeInfo
	victims    []*podInfo // most important first
	violations int        // of disruption budgets
}

// byEviction tries to stop pods of lower priority, as the scheduler does by itself
// for pods that may preempt.
func (s *search) byEviction(begin variant) {
	best := begin.model.evictions(begin.pod)
	if len(best) == 0 {
		return
	}
	e := best[0]
	self := begin.model.preempts(begin.pod, e.node) && len(begin.edits) == 0
	budgets := begin.model.budgetsAgainst(e.victims)
	text := fmt.Sprintf("stop %d pods of lower priority on node %s: %s%s", len(e.victims), e.node.node.Name, names(podRefs(e.victims)), breaking(budgets))
	if len(e.victims) == 1 {
		text = fmt.Sprintf("stop a pod of lower priority on node %s: %s%s", e.node.node.Name, names(podRefs(e.victims)), breaking(budgets))
	}
	cost := 6 + float64(len(e.victims)) + 4*float64(len(budgets))
	if self {
		text += ", as the scheduler will do by itself"
		cost = 1.5
	}
	v := begin.with(edit{Edit: Edit{Kind: EvictPods, Object: Ref{Kind: Nodes, Name: e.node.node.Name}, Pods: podRefs(e.victims), Breaks: budgets, Self: self},
		text: text, cost: cost, harm: Disrupts, do: stopped(e.victims)})
	v.node = e.node.node.Name
	s.offer(v)
}

// preempts tells whether the scheduler would itself stop pods on a node for the pod.
func (m *Model) preempts(pod *v1.Pod, n *nodeInfo) bool {
	if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == v1.PreemptNever {
		return false
	}
	c := m.cycle(pod)
	if len(c.blocked) > 0 || c.only != nil && !c.only.Has(n.node.Name) {
		return false
	}
	r := result{full: true}
	c.judgeNode(n, &r)
	// The scheduler takes what the first filter says: where that is beyond help it
	// does not try.
	for i := range r.failures {
		if r.failures[i].Plugin != r.failures[0].Plugin {
			break
		}
		if !r.failures[i].Preemptible {
			return false
		}
	}
	return len(r.failures) > 0
}

// evictions finds on each node the fewest pods of lower priority to stop, the best
// node first, as the scheduler chooses them.
func (m *Model) evictions(pod *v1.Pod) []eviction {
	c := m.cycle(pod)
	if len(c.blocked) > 0 || c.failing != "" || len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	var out []eviction
	var r result
	for _, n := range m.nodes {
		var lower []*podInfo
		for _, p := range n.pods {
			if p.priority < c.priority {
				lower = append(lower, p)
			}
		}
		if len(lower) == 0 {
			continue
		}
		r.reset()
		c.judgeNode(n, &r)
		if len(r.hits) == 0 || r.err != "" || beyondEviction(r.hits) {
			continue
		}
		if e := c.evict(n, lower); e != nil {
			out = append(out, *e)
		}
	}
	slices.SortStableFunc(out, func(a, b eviction) int {
		return cmp.Or(cmp.Compare(a.violations, b.violations), cmp.Compare(a.victims[0].priority, b.victims[0].priority),
			cmp.Compare(a.sum(), b.sum()), cmp.Compare(len(a.victims), len(b.victims)), b.earliest().Compare(a.earliest()),
			strings.Compare(a.node.node.Name, b.node.node.Name))
	})
	return out
}

// beyondEviction tells of constraints that no eviction cures, so that nodes need
// not be tried in earnest.
func beyondEviction(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool {
		switch h.plugin {
		case pNodeName, pNodeUnschedulable, pTaintToleration, pNodeAffinity, pVolumeBinding, pVolumeZone, pDynamicResources, pNodeDeclaredFeatures:
			return true
		}
		return false
	})
}

func (e *eviction) sum() int64 {
	var n int64
	for _, v := range e.victims {
		n += int64(v.priority) + math.MaxInt32 + 1
	}
	return n
}

func (e *eviction) earliest() time.Time {
	first, priority := time.Time{}, e.victims[0].priority
	for _, v := range e.victims {
		if t := started(v); v.priority == priority && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func started(p *podInfo) time.Time {
	if p.pod.Status.StartTime != nil {
		return p.pod.Status.StartTime.Time
	}
	return time.Time{}
}

// evict takes all pods of lower priority from a node, and if the pod fits then,
// lets them back one by one as long as it does: those that a budget protects and
// the most important first.
func (c *cycle) evict(n *nodeInfo, lower []*podInfo) *eviction {
	gone := map[*podInfo]bool{}
	for _, p := range lower {
		gone[p] = true
	}
	fits := func() bool {
		var out []*podInfo
		for p := range gone {
			out = append(out, p)
		}
		c.move(out, n, -1)
		use := c.m.claimUse
		c.m = c.m.unused(gone)
		var r result
		c.judgeNode(n.with(nil, gone), &r)
		c.m.claimUse = use
		c.move(out, n, 1)
		return len(r.hits) == 0 && r.err == ""
	}
	if !fits() {
		return nil
	}
	slices.SortStableFunc(lower, func(a, b *podInfo) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), started(a).Compare(started(b)))
	})
	violating := c.m.violating(lower)
	e := &eviction{node: n}
	for _, protected := range []bool{true, false} {
		for _, p := range lower {
			if violating[p] != protected {
				continue
			}
			delete(gone, p)
			if fits() {
				continue
			}
			gone[p] = true
			if protected {
				e.violations++
			}
		}
	}
	for _, p := range lower {
		if gone[p] {
			e.victims = append(e.victims, p)
		}
	}
	if len(e.victims) == 0 {
		return nil
	}
	return e
}

// unused is the model with claims free that the pods use.
func (m *Model) unused(gone map[*podInfo]bool) *Model {
	any := false
	for p := range gone {
		any = any || len(p.claims) > 0
	}
	if !any {
		return m
	}
	c := m.clone()
	c.claimUse = map[string][]placement{}
	for claim, ps := range m.claimUse {
		for _, p := range ps {
			if !gone[p.pod] {
				c.claimUse[claim] = append(c.claimUse[claim], p)
			}
		}
	}
	return c
}

// violating are the pods whose end would break a disruption budget, were they
// stopped in this order.
func (m *Model) violating(pods []*podInfo) map[*podInfo]bool {
	allowed := make([]int32, len(m.budgets))
	for i, b := range m.budgets {
		allowed[i] = b.pdb.Status.DisruptionsAllowed
	}
	out := map[*podInfo]bool{}
	for _, p := range pods {
		for i, b := range m.budgets {
			if len(p.labels) == 0 || b.pdb.Namespace != p.pod.Namespace || !b.selector.Matches(p.labels) {
				continue
			}
			if _, ok := b.pdb.Status.DisruptedPods[p.pod.Name]; ok {
				continue
			}
			if allowed[i]--; allowed[i] < 0 {
				out[p] = true
				break
			}
		}
	}
	return out
}
