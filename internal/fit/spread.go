package fit

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1"
)

// A spreadConstraint is one of the pod's, or of the scheduler's defaults, with
// what there is now.
type spreadConstraint struct {
	index        int
	key          string
	selector     labels.Selector
	maxSkew      int32
	minDomains   int32
	honorNodes   bool // nodes that the pod does not select do not count
	honorTaints  bool // nor nodes whose taints it does not tolerate
	byDefault    bool
	self         int
	matching     map[string]int // by domain
	least        int
	leastDomain  string
	tooFewDomain bool
}

// spreadConstraints works out how many matching pods each domain has.
func (c *cycle) spreadConstraints() {
	if c.off[pPodTopologySpread] {
		return
	}
	constraints, byDefault := c.pod.Spec.TopologySpreadConstraints, false
	if len(constraints) == 0 {
		constraints, byDefault = c.profile.DefaultSpread, true
	}
	for i := range constraints {
		t := &constraints[i]
		if t.WhenUnsatisfiable != v1.DoNotSchedule {
			continue
		}
		s, err := selectorOf(t.LabelSelector)
		if err != nil {
			c.failing = fmt.Sprintf("running PreFilter plugin %q: get constraints from pod: %v", PodTopologySpread, err)
			return
		}
		if len(t.MatchLabelKeys) > 0 {
			own := labels.Set{}
			for _, k := range t.MatchLabelKeys {
				if v, ok := c.pod.Labels[k]; ok {
					own[k] = v
				}
			}
			if rs, selectable := s.Requirements(); len(own) > 0 && selectable {
				s = labels.SelectorFromSet(own).Add(rs...)
			}
		}
		x := &spreadConstraint{index: i, key: t.TopologyKey, selector: s, maxSkew: t.MaxSkew, minDomains: 1, byDefault: byDefault,
			honorNodes:  t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor,
			honorTaints: t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor}
		if t.MinDomains != nil {
			x.minDomains = *t.MinDomains
		}
		c.spread = append(c.spread, x)
	}
	if byDefault && len(c.spread) > 0 {
		if !c.needs(pPodTopologySpread, Services, ReplicaSets, StatefulSets, ReplicationControllers) {
			c.spread = nil
		} else if s := c.m.defaultSelector(c.pod); s.Empty() {
			c.spread = nil
		} else {
			for _, x := range c.spread {
				x.selector = s
			}
		}
	}
	if len(c.spread) > 0 && !c.needs(pPodTopologySpread, Pods) {
		c.spread = nil
	}
	if len(c.spread) == 0 {
		c.off[pPodTopologySpread] = true
		return
	}
	for _, x := range c.spread {
		if x.selector.Matches(labels.Set(c.pod.Labels)) {
			x.self = 1
		}
		x.matching = map[string]int{}
		counts := c.m.matchingPods(c.pod.Namespace, x.selector)
		for i, n := range c.m.nodes {
			if !c.counts(x, n) {
				continue
			}
			var here int32
			if i < len(counts) {
				here = counts[i]
			}
			x.matching[n.labels[x.key]] += int(here)
		}
		x.settle()
	}
}

// counts tells whether a node and the pods on it count for a constraint.
func (c *cycle) counts(x *spreadConstraint, n *nodeInfo) bool {
	for _, o := range c.spread {
		if _, ok := n.labels[o.key]; !ok {
			return false
		}
	}
	if x.honorNodes {
		if !c.requiredMatch(n) {
			return false
		}
	}
	if x.honorTaints {
		for i := range n.taints {
			if !corev1.TolerationsTolerateTaint(logr.Discard(), c.pod.Spec.Tolerations, &n.taints[i], false) {
				return false
			}
		}
	}
	return true
}

// requiredMatch tells whether the pod's selector and affinity admit a node.
func (c *cycle) requiredMatch(n *nodeInfo) bool {
	for k, v := range c.pod.Spec.NodeSelector {
		if got, ok := n.labels[k]; !ok || got != v {
			return false
		}
	}
	if c.affinity == nil {
		return true
	}
	ok, _ := c.affinity.Match(n.node)
	return ok
}

// settle finds the domain with the fewest matching pods.
func (x *spreadConstraint) settle() {
	x.least, x.leastDomain = 1<<31-1, ""
	for domain, n := range x.matching {
		if n < x.least || n == x.least && domain < x.leastDomain {
			x.least, x.leastDomain = n, domain
		}
	}
	x.tooFewDomain = len(x.matching) < int(x.minDomains)
	if x.tooFewDomain {
		x.least, x.leastDomain = 0, ""
	}
}

// move adds a pod on a node to the counts, or takes it away.
func (c *cycle) moveSpread(p *podInfo, n *nodeInfo, by int) {
	if p.pod.Namespace != c.pod.Namespace {
		return
	}
	for _, x := range c.spread {
		if x.selector.Matches(p.labels) && c.counts(x, n) {
			x.matching[n.labels[x.key]] += by
			x.settle()
		}
	}
}

const spreadBroken = "node(s) didn't match pod topology spread constraints"

func (c *cycle) topologySpread(n *nodeInfo, r *result) {
	for i, x := range c.spread {
		domain, ok := n.labels[x.key]
		if !ok {
			r.hit(pPodTopologySpread, 1, i, 1.5)
			if r.full {
				r.fail(Failure{Plugin: PodTopologySpread, Reason: spreadBroken + " (missing required label)",
					Detail: fmt.Sprintf("the pod is spread over %s, a label that the node does not have", x.key), Spread: x.facts("")})
			}
			continue
		}
		skew := x.matching[domain] + x.self - x.least
		if skew <= int(x.maxSkew) {
			continue
		}
		r.hit(pPodTopologySpread, 0, i, 1)
		if r.full {
			f := x.facts(domain)
			f.Skew = skew
			least := fmt.Sprintf("%s has the fewest, %d", f.LeastValue, f.Least)
			if x.tooFewDomain {
				least = fmt.Sprintf("there are %d domains, fewer than minDomains %d, which counts as one with none", f.Domains, x.minDomains)
			}
			r.fail(Failure{Plugin: PodTopologySpread, Reason: spreadBroken, Preemptible: true, Spread: f,
				Detail: fmt.Sprintf("%s=%s has %d matching pods, %s: with the pod the skew would be %d, of at most %d", x.key, domain, f.Matching, least, skew, x.maxSkew)})
		}
	}
}

func (x *spreadConstraint) facts(domain string) *Spread {
	s := &Spread{Index: x.index, TopologyKey: x.key, Selector: x.selector.String(), Value: domain, MaxSkew: x.maxSkew,
		Matching: x.matching[domain], Least: x.least, LeastValue: x.leastDomain, Domains: len(x.matching), Default: x.byDefault}
	if x.tooFewDomain {
		s.MinDomains = x.minDomains
	}
	return s
}

// defaultSelector is that of the services and the controller of a pod.
func (m *Model) defaultSelector(pod *v1.Pod) labels.Selector {
	set := labels.Set{}
	for _, s := range m.cluster.Services {
		if s.Namespace == pod.Namespace && s.Spec.Selector != nil && labels.Set(s.Spec.Selector).AsSelectorPreValidated().Matches(labels.Set(pod.Labels)) {
			set = labels.Merge(set, s.Spec.Selector)
		}
	}
	selector := set.AsSelector()
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return selector
	}
	with := func(s *metav1.LabelSelector) labels.Selector {
		if other, err := selectorOf(s); err == nil {
			if rs, ok := other.Requirements(); ok {
				return selector.Add(rs...)
			}
		}
		return selector
	}
	switch owner.APIVersion + "/" + owner.Kind {
	case "v1/ReplicationController":
		i := slices.IndexFunc(m.cluster.ReplicationControllers, func(x *v1.ReplicationController) bool {
			return x.Namespace == pod.Namespace && x.Name == owner.Name
		})
		if i >= 0 {
			return labels.Merge(set, m.cluster.ReplicationControllers[i].Spec.Selector).AsSelector()
		}
	case "apps/v1/ReplicaSet":
		i := slices.IndexFunc(m.cluster.ReplicaSets, func(x *appsv1.ReplicaSet) bool { return x.Namespace == pod.Namespace && x.Name == owner.Name })
		if i >= 0 {
			return with(m.cluster.ReplicaSets[i].Spec.Selector)
		}
	case "apps/v1/StatefulSet":
		i := slices.IndexFunc(m.cluster.StatefulSets, func(x *appsv1.StatefulSet) bool { return x.Namespace == pod.Namespace && x.Name == owner.Name })
		if i >= 0 {
			return with(m.cluster.StatefulSets[i].Spec.Selector)
		}
	}
	return selector
}
