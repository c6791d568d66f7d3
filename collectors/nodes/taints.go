package nodes

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Taint is one that keeps pods away, and how many nodes have it.
type Taint struct {
	corev1.Taint
	Nodes int
}

// Taints are those of all nodes that keep pods away which do not tolerate
// them, those of most nodes first. It shares its list with cluster.nodes.
var Taints = &collectors.Fact[[]Taint]{
	ID:      "nodes.taints",
	Doc:     "the taints that keep pods away, and how many nodes have each",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Taint] {
		by := map[corev1.Taint]int{}
		return collectors.Folder[[]Taint]{
			Add: func(_ int, o objects.Object) { addTaints(by, o.(*corev1.Node)) },
			Done: func([]collectors.Answered) ([]Taint, error) {
				var out []Taint
				for t, n := range by {
					out = append(out, Taint{t, n})
				}
				slices.SortFunc(out, func(a, b Taint) int {
					return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect))
				})
				return out, nil
			},
		}
	},
}

func addTaints(by map[corev1.Taint]int, n *corev1.Node) {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		t := corev1.Taint{Key: strings.Clone(t.Key), Value: strings.Clone(t.Value), Effect: t.Effect}
		if _, known := by[t]; known || len(by) < maxDistinct {
			by[t]++
		}
	}
}

// Keeps reports whether the taint keeps away a pod with these tolerations.
func (t Taint) Keeps(tolerations []corev1.Toleration) bool {
	return !slices.ContainsFunc(tolerations, func(x corev1.Toleration) bool { return tolerates(x, t.Taint) })
}

// tolerates is corev1.Toleration.ToleratesTaint without its comparison
// operators, which need a logger: what compares is taken to tolerate.
func tolerates(x corev1.Toleration, t corev1.Taint) bool {
	if x.Effect != "" && x.Effect != t.Effect || x.Key != "" && x.Key != t.Key {
		return false
	}
	switch x.Operator {
	case "", corev1.TolerationOpEqual:
		return x.Value == t.Value
	}
	return true
}

// String writes the taint as the scheduler's messages do: "{dedicated: gpu}".
func (t Taint) String() string {
	if t.Value == "" {
		return "{" + t.Key + "}"
	}
	return "{" + t.Key + ": " + t.Value + "}"
}
