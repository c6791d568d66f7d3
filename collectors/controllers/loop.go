package controllers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Loop is the objects of one kind: those that wait for their controller, and
// those that something else holds up, which is no fault of the control plane.
type Loop struct {
	Backlog
	Queue string // the work queue of the controller, by which its metrics tell of it; empty if none is waited for
	Held  []Held // the largest first
	Note  string // what was left out
}

// A Held is objects that wait for the same.
type Held struct {
	By      string // a clause: "fewer pods available than it may have"
	Count   int
	Oldest  time.Duration // for how long the first of them has; 0 if that is not known
	Example string        // namespace/name of that one
	System  bool          // they are in a namespace of the cluster's own
	Bad     bool          // it hurts more than its own workload
	Missing int           // pods that are not ready, where it is known how many
	Mark    string        // by which links between findings are made; may be empty
}

// maxHeld bounds what is kept: some of the text is out of the cluster.
const maxHeld = 50

// hold notes that something holds up an object.
func (l *Loop) hold(o objects.Object, by string, age time.Duration) *Held {
	own := system(o.GetNamespace())
	i := slices.IndexFunc(l.Held, func(h Held) bool { return h.By == by && h.System == own })
	if i < 0 {
		if len(l.Held) == maxHeld {
			return &Held{}
		}
		i = len(l.Held)
		l.Held = append(l.Held, Held{By: strings.Clone(by), System: own})
	}
	h := &l.Held[i]
	h.Count++
	if h.Example == "" || age > h.Oldest {
		h.Oldest, h.Example = max(0, age), id(o)
	}
	return h
}

// system reports whether a namespace is one of the cluster's own, whose
// workloads everything else needs.
func system(namespace string) bool {
	return namespace == "kube-system" || strings.HasPrefix(namespace, "openshift-")
}

// rank puts first what others suffer by.
func rank(h Held) int {
	switch {
	case h.Bad:
		return 2
	case h.System:
		return 1
	}
	return 0
}

func id(o objects.Object) string {
	if o.GetNamespace() == "" {
		return strings.Clone(o.GetName())
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// Controlled is the target of facts about what the controllers look after.
var Controlled = collectors.Target{Component: collectors.Controllers, Addr: "kube:"}

// A looker looks at one object. The request says of which list it is.
type looker interface {
	look(l *Loop, request int, o objects.Object, now time.Time)
}

// A closer has more to say when all lists are read.
type closer interface{ close(l *Loop, now time.Time) }

// newLoop makes a fact of the objects of one kind. What looks at them is made
// anew for each run.
func newLoop(id, doc, kind, queue string, look func() looker, lists ...collectors.Request) *collectors.Fact[Loop] {
	return newLoopOf(id, doc, kind, queue, nil, func(*collectors.Snapshot) looker { return look() }, lists...)
}

// newLoopOf is newLoop for a looker that needs other facts.
func newLoopOf(id, doc, kind, queue string, needs []collectors.Any, look func(*collectors.Snapshot) looker, lists ...collectors.Request) *collectors.Fact[Loop] {
	return &collectors.Fact[Loop]{
		ID: "controllers." + id, Doc: doc, Needs: append(needs, cluster.Clock), Targets: collectors.Single(Controlled),
		Ask:     func(*collectors.Snapshot, collectors.Target) []collectors.Request { return lists },
		Partial: true,
		Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Loop] {
			now, gap := cluster.Now(s)
			l := &Loop{Backlog: Backlog{Kind: kind}, Queue: queue}
			k := look(s)
			return collectors.Folder[Loop]{
				Add: func(request int, o objects.Object) { k.look(l, request, o, now) },
				Done: func(rs []collectors.Answered) (Loop, error) {
					if gap := cmp.Or(unserved(rs), gap); gap != nil {
						return Loop{}, gap
					}
					out := *l
					out.Held = slices.Clone(l.Held)
					if c, ok := k.(closer); ok {
						c.close(&out, now)
					}
					slices.SortStableFunc(out.Held, func(a, b Held) int {
						return cmp.Or(-cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Count, b.Count), cmp.Compare(a.By, b.By))
					})
					return out, nil
				},
			}
		},
	}
}

// unserved is the gap of the first list that there is not. A kind that the
// cluster is too old for is out of scope.
func unserved(rs []collectors.Answered) *collectors.Gap {
	for _, r := range rs {
		switch {
		case r.Gap != nil && r.Gap.Reason == collectors.Absent:
			return collectors.Gapf(collectors.OutOfScope, "this cluster does not serve it: %s", r.Gap.Detail)
		case r.Gap != nil:
			return r.Gap
		}
	}
	return nil
}

// each makes a looker of a function that needs nothing but the object.
type each[O objects.Object] func(l *Loop, o O, now time.Time)

func (f each[O]) look(l *Loop, _ int, o objects.Object, now time.Time) {
	l.Objects++
	if o.GetDeletionTimestamp() == nil {
		f(l, o.(O), now)
	}
}

func list(path string) collectors.Request {
	return collectors.Request{Verb: collectors.List, URL: "kube:" + path}
}

// Settled is how long a workload may be less than it should be before that is
// worth a word. Source: kubernetes-mixin, KubeDeploymentReplicasMismatch,
// KubeStatefulSetReplicasMismatch, KubeDaemonSetRolloutStuck.
const Settled = 15 * time.Minute

// unchanged is for how long nobody has written the object, which is how long at
// least it has been as it is.
func unchanged(o objects.Object, now time.Time) time.Duration {
	t := changed(o, true)
	if t.IsZero() {
		return 0
	}
	return now.Sub(t)
}
