package fit

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
)

// An affinityTerm is a demand for pods near or far, parsed.
type affinityTerm struct {
	namespaces sets.Set[string]
	// inNamespaces selects namespaces by their labels besides those named.
	inNamespaces labels.Selector
	selector     labels.Selector
	key          string
	index        int // its place in the pod
}

// A topology is a domain: a label of nodes and its value.
type topology struct{ key, value string }

// A repulsion is an anti-affinity term of pods that run, alike ones together.
type repulsion struct {
	term affinityTerm
	at   []placement
}

// affinityTerms parses terms of a pod. Its match label keys and mismatch label keys
// need no care: the API server merges them into the selector.
func affinityTerms(p *v1.Pod, terms []v1.PodAffinityTerm) ([]affinityTerm, error) {
	var out []affinityTerm
	for i := range terms {
		t := &terms[i]
		if t.TopologyKey == "" {
			continue // the place of one that was dropped
		}
		s, err := selectorOf(t.LabelSelector)
		if err != nil {
			return nil, err
		}
		ns, err := selectorOf(t.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		a := affinityTerm{namespaces: sets.New(t.Namespaces...), inNamespaces: ns, selector: s, key: t.TopologyKey, index: i}
		if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
			a.namespaces.Insert(p.Namespace)
		}
		out = append(out, a)
	}
	return out, nil
}

func (t *affinityTerm) matches(namespace string, nsLabels, podLabels labels.Set) bool {
	return (t.namespaces.Has(namespace) || t.inNamespaces.Matches(nsLabels)) && t.selector.Matches(podLabels)
}

// selectsNamespaces tells whether the labels of namespaces matter.
func (t *affinityTerm) selectsNamespaces() bool {
	_, selectable := t.inNamespaces.Requirements()
	return selectable && !t.inNamespaces.Empty()
}

func (t *affinityTerm) String() string {
	where := strings.Join(sets.List(t.namespaces), ",")
	switch {
	case t.selectsNamespaces():
		where = strings.TrimPrefix(where+","+t.inNamespaces.String(), ",")
	case t.inNamespaces.Empty() && where == "":
		where = "every namespace"
	}
	what := t.selector.String()
	if what == "" {
		what = "any pod"
	}
	return what + " in " + where
}

// repulsions gathers the anti-affinity of all pods on nodes.
func repulsions(nodes []*nodeInfo) []*repulsion {
	byTerm := map[string]*repulsion{}
	var out []*repulsion
	for i, n := range nodes {
		for _, p := range n.pods {
			for _, t := range p.repels {
				key := strings.Join(sets.List(t.namespaces), ",") + "\x00" + t.inNamespaces.String() + "\x00" + fmt.Sprint(t.inNamespaces.Empty()) + "\x00" + t.selector.String() + "\x00" + fmt.Sprint(t.selector.Empty()) + "\x00" + t.key
				r := byTerm[key]
				if r == nil {
					r = &repulsion{term: t}
					byTerm[key] = r
					out = append(out, r)
				}
				r.at = append(r.at, placement{p, int32(i)})
			}
		}
	}
	return out
}

// podAffinity works out in which domains are pods that the pod wants near, wants
// far, or that want it far.
func (c *cycle) podAffinity() {
	if c.off[pInterPodAffinity] {
		return
	}
	var err error
	if a := c.pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			c.attract, err = affinityTerms(c.pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil && err == nil {
			c.repel, err = affinityTerms(c.pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	if err != nil {
		c.block(pInterPodAffinity, Failure{Reason: fmt.Sprintf("parsing pod: %v", err), Detail: fmt.Sprintf("a term of the pod's affinity is malformed: %v", err)})
		c.off[pInterPodAffinity] = true
		return
	}
	if !c.needs(pInterPodAffinity, Pods) {
		c.off[pInterPodAffinity] = true
		return
	}
	unfold := func(terms []affinityTerm) bool {
		for i := range terms {
			if !terms[i].selectsNamespaces() {
				continue
			}
			if !c.needs(pInterPodAffinity, Namespaces) {
				return false
			}
			for name, l := range c.m.namespaces {
				if terms[i].inNamespaces.Matches(l) {
					terms[i].namespaces.Insert(name)
				}
			}
			terms[i].inNamespaces = labels.Nothing()
		}
		return true
	}
	if !unfold(c.attract) {
		c.attract = nil
	}
	if !unfold(c.repel) {
		c.repel = nil
	}
	c.near, c.far, c.kept = map[topology]int64{}, map[topology]int64{}, map[topology]int64{}
	c.incoming()
	own := labels.Set(c.pod.Labels)
	for _, x := range c.m.repelling {
		if !x.term.namespaces.Has(c.pod.Namespace) && x.term.selectsNamespaces() && x.term.selector.Matches(own) && !c.needs(pInterPodAffinity, Namespaces) {
			continue
		}
		if !x.term.matches(c.pod.Namespace, c.m.namespaces[c.pod.Namespace], own) {
			continue
		}
		for _, at := range x.at {
			c.count(c.kept, c.m.nodes[at.node], x.term.key, 1)
		}
		if !slices.Contains(c.keptKeys, x.term.key) {
			c.keptKeys = append(c.keptKeys, x.term.key)
		}
	}
	if len(c.attract)+len(c.repel)+len(c.kept) == 0 {
		c.off[pInterPodAffinity] = true
	}
}

// incoming counts the pods that the pod's own terms are about.
func (c *cycle) incoming() {
	if len(c.attract)+len(c.repel) == 0 {
		return
	}
	visit := func(ns string, terms []affinityTerm) bool {
		return slices.ContainsFunc(terms, func(t affinityTerm) bool { return t.namespaces.Has(ns) || t.inNamespaces.Empty() })
	}
	for ns, at := range c.m.placed {
		if !visit(ns, c.attract) && !visit(ns, c.repel) {
			continue
		}
		for _, p := range at {
			c.countIncoming(p.pod, c.m.nodes[p.node], 1)
		}
	}
}

func (c *cycle) countIncoming(p *podInfo, n *nodeInfo, by int64) {
	if c.attractedTo(p.pod.Namespace, p.labels) {
		for _, t := range c.attract {
			c.count(c.near, n, t.key, by)
		}
	}
	for _, t := range c.repel {
		if t.matches(p.pod.Namespace, nil, p.labels) {
			c.count(c.far, n, t.key, by)
		}
	}
}

// attractedTo tells whether a pod satisfies all terms of the affinity: it takes one
// that does.
func (c *cycle) attractedTo(ns string, l labels.Set) bool {
	for i := range c.attract {
		if !c.attract[i].matches(ns, nil, l) {
			return false
		}
	}
	return len(c.attract) > 0
}

func (c *cycle) count(in map[topology]int64, n *nodeInfo, key string, by int64) {
	value, ok := n.labels[key]
	if !ok {
		return
	}
	t := topology{key, value}
	if in[t] += by; in[t] == 0 {
		delete(in, t)
	}
}

// moveAffinity adds a pod on a node to the counts, or takes it away.
func (c *cycle) moveAffinity(p *podInfo, n *nodeInfo, by int64) {
	if c.near == nil {
		return
	}
	c.countIncoming(p, n, by)
	for _, t := range p.repels {
		if t.matches(c.pod.Namespace, c.m.namespaces[c.pod.Namespace], c.pod.Labels) {
			c.count(c.kept, n, t.key, by)
			if !slices.Contains(c.keptKeys, t.key) {
				c.keptKeys = append(c.keptKeys, t.key)
			}
		}
	}
}

func (c *cycle) interPodAffinity(n *nodeInfo, r *result) {
	c.attraction(n, r)
	for i := range c.repel {
		t := &c.repel[i]
		value, ok := n.labels[t.key]
		if !ok || c.far[topology{t.key, value}] <= 0 {
			continue
		}
		r.hit(pInterPodAffinity, 1, i, 1)
		if r.full {
			pods := podRefs(c.repelledIn(i, value))
			r.fail(Failure{Plugin: InterPodAffinity, Reason: "node(s) didn't match pod anti-affinity rules", Preemptible: true,
				Detail: fmt.Sprintf("%s=%s has %s, which the pod's anti-affinity keeps away from (%s)", t.key, value, names(pods), t),
				Term:   &Term{Of: "podAntiAffinity", Index: t.index, Expression: t.String(), TopologyKey: t.key, TopologyValue: value, Pods: few(pods)}})
		}
	}
	for i, key := range c.keptKeys {
		value, ok := n.labels[key]
		if !ok || c.kept[topology{key, value}] <= 0 {
			continue
		}
		r.hit(pInterPodAffinity, 2, i, 1)
		if r.full {
			who, text := c.repellingIn(key, value)
			pods := podRefs(who)
			r.fail(Failure{Plugin: InterPodAffinity, Reason: "node(s) didn't satisfy existing pods anti-affinity rules", Preemptible: true,
				Detail: fmt.Sprintf("%s=%s has %s, whose anti-affinity keeps the pod away (%s)", key, value, names(pods), text),
				Term:   &Term{Of: "existingPodAntiAffinity", Index: i, Expression: text, TopologyKey: key, TopologyValue: value, Pods: few(pods)}})
		}
	}
}

// attraction tells whether the pods that the pod wants near are in the node's
// domains. The first pod of a group that wants itself near may go anywhere.
func (c *cycle) attraction(n *nodeInfo, r *result) {
	var lacking []int
	for i := range c.attract {
		t := &c.attract[i]
		value, ok := n.labels[t.key]
		if !ok {
			r.hit(pInterPodAffinity, 3, i, 1.5)
			if r.full {
				r.fail(Failure{Plugin: InterPodAffinity, Reason: "node(s) didn't match pod affinity rules",
					Detail: fmt.Sprintf("the pod's affinity is by %s, a label that the node does not have", t.key),
					Term:   &Term{Of: "podAffinity", Index: t.index, Expression: t.String(), TopologyKey: t.key}})
			}
			continue
		}
		if c.near[topology{t.key, value}] <= 0 {
			lacking = append(lacking, i)
		}
	}
	if len(lacking) == 0 || len(c.near) == 0 && c.attractedTo(c.pod.Namespace, c.pod.Labels) {
		return
	}
	for _, i := range lacking {
		t := &c.attract[i]
		r.hit(pInterPodAffinity, 0, i, 1)
		if r.full {
			value := n.labels[t.key]
			what := fmt.Sprintf("%s=%s has no pod that the pod's affinity asks for (%s)", t.key, value, t)
			if len(c.near) == 0 {
				what = fmt.Sprintf("no node has a pod that the pod's affinity asks for (%s)", t)
			}
			r.fail(Failure{Plugin: InterPodAffinity, Reason: "node(s) didn't match pod affinity rules", Detail: what,
				Term: &Term{Of: "podAffinity", Index: t.index, Expression: t.String(), TopologyKey: t.key, TopologyValue: value}})
		}
	}
}

// repelledIn finds the pods of a domain that one of the pod's anti-affinity terms
// is about.
func (c *cycle) repelledIn(term int, value string) []*podInfo {
	t := &c.repel[term]
	var pods []*podInfo
	for ns, at := range c.m.placed {
		if !t.namespaces.Has(ns) && !t.inNamespaces.Empty() {
			continue
		}
		for _, p := range at {
			if got, ok := c.m.nodes[p.node].labels[t.key]; ok && got == value && t.matches(ns, nil, p.pod.labels) {
				pods = append(pods, p.pod)
			}
		}
	}
	return pods
}

// repellingIn finds the pods of a domain whose anti-affinity keeps the pod away, and
// one of the terms by which it does.
func (c *cycle) repellingIn(key, value string) (pods []*podInfo, text string) {
	for _, x := range c.m.repelling {
		if x.term.key != key || !x.term.matches(c.pod.Namespace, c.m.namespaces[c.pod.Namespace], c.pod.Labels) {
			continue
		}
		for _, p := range x.at {
			if got, ok := c.m.nodes[p.node].labels[key]; ok && got == value {
				text = x.term.String()
				if !slices.Contains(pods, p.pod) {
					pods = append(pods, p.pod)
				}
			}
		}
	}
	return pods, text
}

func podRefs(pods []*podInfo) []Ref {
	out := make([]Ref, 0, len(pods))
	for _, p := range pods {
		out = append(out, podRef(p.pod))
	}
	slices.SortFunc(out, compareRefs)
	return out
}
