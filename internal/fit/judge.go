package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Judge says where the pod fits and what is in the way everywhere else. Pods that
// are alike to the scheduler are judged once.
func (m *Model) Judge(pod *v1.Pod) Verdict {
	key := m.Key(pod)
	m.mu.Lock()
	known := m.verdicts[key]
	m.mu.Unlock()
	if known == nil {
		v := m.judge(pod)
		m.mu.Lock()
		m.verdicts[key] = &v
		m.mu.Unlock()
		known = &v
	}
	v := *known
	v.Pod = podRef(pod)
	return v
}

// Node is all that keeps the pod off one node, with that node's numbers.
func (m *Model) Node(pod *v1.Pod, node string) []Failure {
	i, ok := m.byName[node]
	if !ok {
		return nil
	}
	c := m.cycle(pod)
	r := result{full: true}
	c.judgeNode(m.nodes[i], &r)
	return r.failures
}

// judgeNode judges a node as the scheduler does: with the pods that are to come to
// it by preemption, and if the pod fits so, without them as well.
func (c *cycle) judgeNode(n *nodeInfo, r *result) {
	var coming []*podInfo
	for _, p := range n.nominated {
		if p.priority >= c.priority && p.pod.UID != c.pod.UID && c.m.together(p.pod, c.pod) {
			coming = append(coming, p)
		}
	}
	if len(coming) > 0 {
		with := n.with(coming, nil)
		c.move(coming, n, 1)
		c.on(with, r)
		c.move(coming, n, -1)
		if len(r.hits) > 0 || r.err != "" {
			return
		}
	}
	c.on(n, r)
}

// together tells whether one scheduler looks after both pods: of pods that are
// another's it does not know that they were promised a node.
func (m *Model) together(a, b *v1.Pod) bool {
	if a.Spec.SchedulerName == b.Spec.SchedulerName {
		return true
	}
	_, one := m.cluster.Profiles[a.Spec.SchedulerName]
	_, other := m.cluster.Profiles[b.Spec.SchedulerName]
	return one && other
}

// move counts pods as on a node, or as gone from it.
func (c *cycle) move(pods []*podInfo, n *nodeInfo, by int) {
	for _, p := range pods {
		c.moveSpread(p, n, by)
		c.moveAffinity(p, n, int64(by))
	}
}

// A bundle is the nodes that fail the same constraints.
type bundle struct {
	hits    []hit
	nodes   []weighed
	reasons []string
}

type weighed struct {
	node   *nodeInfo
	weight float64
}

func (m *Model) judge(pod *v1.Pod) Verdict {
	c := m.cycle(pod)
	v := Verdict{Pod: podRef(pod), NumNodes: len(m.nodes), Blocked: c.blocked, Held: c.held, NotModelled: c.notModelled}
	for _, g := range pod.Spec.SchedulingGates {
		v.Gates = append(v.Gates, g.Name)
	}
	if why, ok := m.unread(Nodes); ok {
		v.State, v.Unread = NotKnown, []Unread{{Kind: Nodes, Why: why}}
		return v
	}
	bundles := map[string]*bundle{}
	var inOrder []*bundle
	var r result
	key := make([]byte, 0, 64)
	for _, n := range m.nodes {
		r.reset()
		c.judgeNode(n, &r)
		if r.err != "" {
			// The scheduler meets it only if it comes to look at the node.
			if c.failing == "" && len(c.blocked) == 0 && (c.only == nil || c.only.Has(n.node.Name)) {
				c.failing = r.err
			}
			continue
		}
		if len(r.hits) == 0 {
			v.Fits = append(v.Fits, n.node.Name)
			continue
		}
		key = key[:0]
		for _, h := range r.hits {
			key = append(key, h.plugin, h.reason, byte(h.sub>>8), byte(h.sub))
		}
		b := bundles[string(key)]
		if b == nil {
			b = &bundle{hits: slices.Clone(r.hits)}
			bundles[string(key)] = b
			inOrder = append(inOrder, b)
		}
		b.nodes = append(b.nodes, weighed{n, r.weight})
	}
	v.Groups = c.groups(inOrder)
	v.Unread = c.unread
	v.Reasons = c.reasonCounts(inOrder)
	switch {
	case c.failing != "":
		v.State = Failing
		v.Reasons = []Count{{Reason: c.failing, Nodes: len(m.nodes)}}
	case len(v.Gates) > 0:
		v.State = Gated
	case len(v.Blocked) == 0 && len(v.Fits) > 0 && len(v.Unread) > 0:
		v.State = NotKnown
	case len(v.Blocked) > 0 || len(v.Fits) == 0:
		v.State = Unschedulable
	default:
		v.State = Fits
	}
	return v
}

// groups describes the nodes that do not fit, the nearest first.
func (c *cycle) groups(bundles []*bundle) []Group {
	for _, b := range bundles {
		slices.SortStableFunc(b.nodes, func(x, y weighed) int {
			return cmp.Or(cmp.Compare(x.weight, y.weight), strings.Compare(x.node.node.Name, y.node.node.Name))
		})
	}
	slices.SortStableFunc(bundles, func(x, y *bundle) int {
		return cmp.Or(cmp.Compare(len(x.hits), len(y.hits)), cmp.Compare(x.nodes[0].weight, y.nodes[0].weight),
			cmp.Compare(len(y.nodes), len(x.nodes)), strings.Compare(x.nodes[0].node.node.Name, y.nodes[0].node.node.Name))
	})
	groups := make([]Group, 0, len(bundles))
	for _, b := range bundles {
		r := result{full: true}
		c.judgeNode(b.nodes[0].node, &r)
		g := Group{Failures: r.failures, Nodes: make([]string, 0, len(b.nodes))}
		for _, n := range b.nodes {
			g.Nodes = append(g.Nodes, n.node.node.Name)
		}
		b.reasons = first(r.failures)
		groups = append(groups, g)
	}
	return groups
}

// first is what the scheduler says of a node: the reasons of the first plugin that
// refuses. Two plugins tell all of theirs, the others their first.
func first(failures []Failure) []string {
	var reasons []string
	for i := range failures {
		f := &failures[i]
		if f.Plugin != failures[0].Plugin {
			break
		}
		if len(reasons) > 0 && f.Plugin != NodeResourcesFit && f.Plugin != VolumeBinding {
			break
		}
		if !slices.Contains(reasons, f.Reason) {
			reasons = append(reasons, f.Reason)
		}
	}
	return reasons
}

// reasonCounts counts the scheduler's reasons. Of nodes that the pod's node affinity does
// not name the scheduler says that alone.
func (c *cycle) reasonCounts(bundles []*bundle) []Count {
	counts := map[string]int{}
	named := 0
	for _, b := range bundles {
		n := len(b.nodes)
		if c.only != nil {
			n = 0
			for _, x := range b.nodes {
				if c.only.Has(x.node.node.Name) {
					n++
				}
			}
		}
		if n > 0 {
			for _, reason := range b.reasons {
				counts[reason] += n
			}
		}
	}
	if c.only != nil {
		for name := range c.only {
			if _, ok := c.m.byName[name]; ok {
				named++
			}
		}
		if n := len(c.m.nodes) - named; n > 0 {
			counts["node(s) didn't satisfy plugin(s) [NodeAffinity]"] += n
		}
	}
	out := make([]Count, 0, len(counts))
	for reason, n := range counts {
		out = append(out, Count{reason, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func (c Count) String() string { return fmt.Sprintf("%d %s", c.Nodes, c.Reason) }

// Message is what the scheduler would write into the pod's condition, without what
// it adds about preemption: "0/3 nodes are available: 3 Insufficient cpu."
func (m *Model) Message(v Verdict) string {
	if v.NumNodes == 0 {
		return "no nodes available to schedule pods"
	}
	if v.State == Failing {
		return v.Reasons[0].Reason
	}
	head := fmt.Sprintf("0/%d nodes are available:", v.NumNodes)
	if len(v.Blocked) > 0 {
		return head + " " + v.Blocked[0].Reason + "."
	}
	parts := make([]string, len(v.Reasons))
	for i, c := range v.Reasons {
		parts[i] = c.String()
	}
	if len(parts) == 0 {
		return head
	}
	return head + " " + strings.Join(parts, ", ") + "."
}
