package fit

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// spreadOptions loosen a spread constraint, the least first: its skew, the number of
// domains, which nodes count, and that it is a demand at all.
func spreadOptions(v variant, node string, x *Spread) []edit {
	if x.Default {
		return []edit{ownSpread(v.pod, x)}
	}
	relax := func(e Edit, cost float64, text string, change func(*v1.TopologySpreadConstraint)) edit {
		e.Kind, e.Object, e.Of, e.Index = RelaxSpread, podRef(v.pod), x.TopologyKey, x.Index
		return edit{Edit: e, harm: PodOnly, cost: cost, text: text, do: onPod(func(p *v1.Pod) { change(&p.Spec.TopologySpreadConstraints[x.Index]) })}
	}
	wish := relax(Edit{}, 5, fmt.Sprintf("let the pod's spread over %s be a wish: whenUnsatisfiable ScheduleAnyway", x.TopologyKey), func(t *v1.TopologySpreadConstraint) {
		t.WhenUnsatisfiable, t.MinDomains = v1.ScheduleAnyway, nil // a wish may not have any
	})
	if x.Value == "" {
		out := []edit{wish}
		if x.LeastValue != "" && !ofKubernetes(x.TopologyKey) {
			out = append(out, label(node, map[string]string{x.TopologyKey: x.LeastValue}))
		}
		return out
	}
	out := []edit{relax(Edit{MaxSkew: int32(x.Skew)}, 2.5+0.5*float64(x.Skew-int(x.MaxSkew)),
		fmt.Sprintf("raise maxSkew of the pod's spread over %s from %d to %d", x.TopologyKey, x.MaxSkew, x.Skew),
		func(t *v1.TopologySpreadConstraint) { t.MaxSkew = int32(x.Skew) })}
	t := &v.pod.Spec.TopologySpreadConstraints[x.Index]
	if n := int32(x.Domains); x.MinDomains > n && n > 0 {
		out = append(out, relax(Edit{MinDomains: n}, 2.8, fmt.Sprintf("lower minDomains of the pod's spread over %s from %d to the %d that there are", x.TopologyKey, x.MinDomains, n),
			func(t *v1.TopologySpreadConstraint) { t.MinDomains = &n }))
	}
	honor := v1.NodeInclusionPolicyHonor
	if t.NodeTaintsPolicy == nil || *t.NodeTaintsPolicy != honor {
		out = append(out, relax(Edit{TaintsPolicy: string(honor)}, 2.7, fmt.Sprintf("leave nodes whose taints the pod does not tolerate out of its spread over %s: nodeTaintsPolicy Honor", x.TopologyKey),
			func(t *v1.TopologySpreadConstraint) { t.NodeTaintsPolicy = &honor }))
	}
	if t.NodeAffinityPolicy != nil && *t.NodeAffinityPolicy != honor {
		out = append(out, relax(Edit{AffinityPolicy: string(honor)}, 2.7, fmt.Sprintf("leave nodes that the pod does not select out of its spread over %s: nodeAffinityPolicy Honor", x.TopologyKey),
			func(t *v1.TopologySpreadConstraint) { t.NodeAffinityPolicy = &honor }))
	}
	return append(out, wish)
}

// ownSpread gives the pod a constraint of its own: then the scheduler's default ones
// do not count.
func ownSpread(pod *v1.Pod, x *Spread) edit {
	return edit{Edit: Edit{Kind: OwnSpread, Object: podRef(pod), Of: v1.LabelHostname, Labels: pod.Labels}, harm: PodOnly, cost: 4,
		text: "give the pod a spread of its own that is a wish, in place of the scheduler's default one over " + x.TopologyKey,
		do: onPod(func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: v1.LabelHostname,
				WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}})
		})}
}

func podAffinityOptions(v variant, node string, t *Term) []edit {
	var out []edit
	drop := func(terms func(*v1.Affinity) []v1.PodAffinityTerm, what string) {
		out = append(out, edit{Edit: Edit{Kind: RelaxAffinity, Object: podRef(v.pod), Of: t.Of, Index: t.Index}, cost: 4, harm: PodOnly,
			text: fmt.Sprintf("drop the pod's required %s by %s (%s)%s", what, t.TopologyKey, t.Expression, ofSeveral(terms(v.pod.Spec.Affinity), t.Index)),
			// Other terms keep their places, so that several can be dropped one by one.
			do: onPod(func(p *v1.Pod) { terms(p.Spec.Affinity)[t.Index] = v1.PodAffinityTerm{} })})
	}
	switch t.Of {
	case "podAffinity":
		drop(func(a *v1.Affinity) []v1.PodAffinityTerm {
			return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}, "affinity")
		if i, ok := v.model.byName[node]; ok && t.TopologyValue == "" && !ofKubernetes(t.TopologyKey) {
			// A node without the label may be made one of the domain of those wanted.
			c := v.model.cycle(v.pod)
			for d := range c.near {
				if _, has := v.model.nodes[i].labels[t.TopologyKey]; !has && d.key == t.TopologyKey {
					out = append(out, label(node, map[string]string{d.key: d.value}))
					break
				}
			}
		}
	case "podAntiAffinity":
		drop(func(a *v1.Affinity) []v1.PodAffinityTerm {
			return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}, "anti-affinity")
		c := v.model.cycle(v.pod)
		if i := slices.IndexFunc(c.repel, func(x affinityTerm) bool { return x.index == t.Index }); i >= 0 {
			out = append(out, v.stopPods(EvictPods, c.repelledIn(i, t.TopologyValue),
				fmt.Sprintf("clear %s=%s of what the pod's anti-affinity keeps away from", t.TopologyKey, t.TopologyValue))...)
		}
	case "existingPodAntiAffinity":
		pods, _ := v.model.cycle(v.pod).repellingIn(t.TopologyKey, t.TopologyValue)
		out = append(out, v.stopPods(EvictPods, pods, fmt.Sprintf("clear %s=%s of pods whose anti-affinity keeps the pod away", t.TopologyKey, t.TopologyValue))...)
		out = append(out, v.relaxOthers(pods, t)...)
	}
	return out
}

// ofSeveral tells a term from others that are the same.
func ofSeveral(terms []v1.PodAffinityTerm, i int) string {
	for j := range terms {
		if j != i && equality.Semantic.DeepEqual(terms[i], terms[j]) {
			return fmt.Sprintf(", its term %d", i+1)
		}
	}
	return ""
}

// relaxOthers drops the anti-affinity terms of pods that run by which they keep the
// pod away. As a pod's affinity cannot be changed they have to be made anew.
func (v variant) relaxOthers(pods []*podInfo, t *Term) []edit {
	if len(pods) == 0 || slices.ContainsFunc(pods, func(p *podInfo) bool { return p.priority >= systemCritical }) {
		return nil
	}
	var terms []PodTerm
	relaxed := map[*podInfo]*v1.Pod{}
	for _, p := range pods {
		c := p.pod.DeepCopy()
		for _, x := range p.repels {
			if x.key == t.TopologyKey && x.matches(v.pod.Namespace, v.model.namespaces[v.pod.Namespace], v.pod.Labels) {
				terms = append(terms, PodTerm{podRef(p.pod), x.index})
				c.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[x.index] = v1.PodAffinityTerm{}
			}
		}
		relaxed[p] = c
	}
	refs := podRefs(pods)
	return []edit{{Edit: Edit{Kind: RelaxAffinity, Object: podRef(pods[0].pod), Of: t.Of, Terms: terms}, harm: Disrupts, cost: 6.5 + float64(len(pods)),
		text: fmt.Sprintf("drop the anti-affinity of %s by %s that keeps the pod away (%s), and make %s anew", names(refs), t.TopologyKey, t.Expression, themOrIt(len(refs))),
		do:   func(m *Model, p *v1.Pod) (*Model, *v1.Pod) { return m.exchange(relaxed), p }}}
}

func themOrIt(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// exchange is the model with some pods on nodes as they would be made anew.
func (m *Model) exchange(by map[*podInfo]*v1.Pod) *Model {
	c := m.clone()
	other := map[*podInfo]*podInfo{}
	for old, p := range by {
		other[old] = newPodInfo(p)
	}
	c.placed = make(map[string][]placement, len(m.placed))
	for ns, ps := range m.placed {
		ps = slices.Clone(ps)
		for i := range ps {
			if o := other[ps[i].pod]; o != nil {
				ps[i].pod = o
			}
		}
		c.placed[ns] = ps
	}
	for i, n := range c.nodes {
		if !slices.ContainsFunc(n.pods, func(p *podInfo) bool { return other[p] != nil }) {
			continue
		}
		info := newNodeInfo(n.node)
		info.nominated = n.nominated
		for _, p := range n.pods {
			if o := other[p]; o != nil {
				p = o
			}
			info.add(p)
		}
		c.nodes[i] = info
	}
	c.repelling = repulsions(c.nodes)
	return c
}

// dropExpressions drops of one of the alternatives of the pod's node affinity what
// the node does not satisfy, where something of it is left.
func (v variant) dropExpressions(node string) []edit {
	i, ok := v.model.byName[node]
	if !ok {
		return nil
	}
	n := v.model.nodes[i].node
	holds := func(t v1.NodeSelectorTerm) bool {
		s, err := nodeaffinity.NewNodeSelector(&v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{t}})
		return err == nil && s.Match(n)
	}
	terms := v.pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	best, drop := -1, []int(nil)
	for i, t := range terms {
		if len(t.MatchFields) > 0 && !holds(v1.NodeSelectorTerm{MatchFields: t.MatchFields}) {
			continue
		}
		var failed []int
		for j, e := range t.MatchExpressions {
			if !holds(v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{e}}) {
				failed = append(failed, j)
			}
		}
		if len(failed) > 0 && len(failed) < len(t.MatchExpressions)+len(t.MatchFields) && (best < 0 || len(failed) < len(drop)) {
			best, drop = i, failed
		}
	}
	if best < 0 {
		return nil
	}
	var what string
	for k, j := range drop {
		if k > 0 {
			what += " and "
		}
		what += requirementText(terms[best].MatchExpressions[j])
	}
	return []edit{{Edit: Edit{Kind: RelaxAffinity, Object: podRef(v.pod), Of: "nodeAffinity", Index: best, Expressions: drop}, cost: 4.2, harm: PodOnly,
		text: "drop " + what + " from the pod's required node affinity",
		do: onPod(func(p *v1.Pod) {
			t := &p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[best]
			var left []v1.NodeSelectorRequirement
			for j, e := range t.MatchExpressions {
				if !slices.Contains(drop, j) {
					left = append(left, e)
				}
			}
			t.MatchExpressions = left
		})}}
}
