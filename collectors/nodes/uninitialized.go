package nodes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// uninitializedTaint is set by a kubelet that is told --cloud-provider=external
// and taken away by the cloud controller manager.
const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// A Waiting is the nodes that wait for the cloud controller manager.
type Waiting struct {
	All     int       // nodes there are
	Count   int       // of which so many wait
	Names   []string  // of those that wait, at most maxKept
	Oldest  time.Time // when the first of them was made; zero if none says
	Undated int       // of those that wait, how many do not say when they were made
}

// Uninitialized lists the nodes that no cloud controller manager has taken up.
var Uninitialized = &collectors.Fact[Waiting]{
	ID:      "nodes.uninitialized",
	Doc:     "the nodes that wait for the cloud controller manager, and since when",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Waiting] {
		var w Waiting
		return collectors.Folder[Waiting]{
			Add: func(_ int, o objects.Object) { w.add(o.(*corev1.Node)) },
			Done: func([]collectors.Answered) (Waiting, error) {
				slices.SortFunc(w.Names, cmp.Compare[string])
				return w, nil
			},
		}
	},
}

func (w *Waiting) add(n *corev1.Node) {
	w.All++
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint }) {
		return
	}
	w.Count++
	if len(w.Names) < maxKept {
		w.Names = append(w.Names, strings.Clone(n.Name))
	}
	switch made := n.CreationTimestamp.Time; {
	case made.IsZero():
		w.Undated++
	case w.Oldest.IsZero() || made.Before(w.Oldest):
		w.Oldest = made
	}
}
