package controllers

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Patience is how long a controller may take to notice a change before that is
// strange. It is notified by a watch and needs milliseconds.
const Patience = time.Minute

// A Backlog is the objects of one kind that a controller has not got to.
type Backlog struct {
	Kind    string // "Deployment"
	Objects int    // how many there are
	Behind  int    // of which so many wait for longer than Patience
	Undated int    // of which so many wait, and do not say since when
	Oldest  time.Duration
	Example string // namespace/name of the one that waits longest
}

// Observed is whether the controllers notice changes and act on them.
type Observed struct {
	// Generations is by kind: objects whose controller has not seen their
	// last change.
	Generations []Backlog
	// Scales is ReplicaSets whose number of pods is not what they ask for,
	// although nothing was rejected and nobody has written them for a while.
	Scales Backlog
}

// Work looks at what the workload controllers have got done.
var Work = &collectors.Fact[Observed]{
	ID:      "controllers.observed",
	Doc:     "the workload objects whose controller has not seen their last change, or has not acted on it",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(collectors.Target{Component: collectors.Controllers, Addr: "kube:"}),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		var rs []collectors.Request
		for _, resource := range []string{"deployments", "replicasets", "statefulsets", "daemonsets"} {
			rs = append(rs, collectors.Request{Verb: collectors.List, URL: "kube:/apis/apps/v1/" + resource})
		}
		return rs
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Observed] {
		skew, gap := cluster.Clock.One(s)
		w := &watcher{now: s.At.Add(skew), out: Observed{Generations: []Backlog{{Kind: "Deployment"}, {Kind: "ReplicaSet"}, {Kind: "StatefulSet"}, {Kind: "DaemonSet"}}, Scales: Backlog{Kind: "ReplicaSet"}}}
		return collectors.Folder[Observed]{
			Add: w.add,
			Done: func([]collectors.Answered) (Observed, error) {
				if gap != nil {
					return Observed{}, &collectors.Gap{Reason: gap.Reason, Detail: "the API server's clock is not known, so neither is the age of anything: " + gap.Detail, Remedy: gap.Remedy}
				}
				return w.out, nil
			},
		}
	},
}

type watcher struct {
	now time.Time
	out Observed
}

func (w *watcher) add(request int, o objects.Object) {
	b := &w.out.Generations[request]
	b.Objects++
	if o.GetDeletionTimestamp() != nil {
		return
	}
	var seen int64
	switch o := o.(type) {
	case *appsv1.Deployment:
		seen = o.Status.ObservedGeneration
	case *appsv1.ReplicaSet:
		seen = o.Status.ObservedGeneration
		w.scale(o)
	case *appsv1.StatefulSet:
		seen = o.Status.ObservedGeneration
	case *appsv1.DaemonSet:
		seen = o.Status.ObservedGeneration
	}
	if seen < o.GetGeneration() {
		b.behind(o, w.now, changed(o, false))
	}
}

// scale looks at a ReplicaSet that its controller has seen. In the moment
// between a pod's end and its successor the numbers differ too; the status is
// then but milliseconds old.
func (w *watcher) scale(o *appsv1.ReplicaSet) {
	w.out.Scales.Objects++
	want := int32(1)
	if o.Spec.Replicas != nil {
		want = *o.Spec.Replicas
	}
	if o.Status.Replicas == want || o.Status.ObservedGeneration < o.Generation {
		return
	}
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return // the controller acts, and is refused
		}
	}
	w.out.Scales.behind(o, w.now, changed(o, true))
}

func (b *Backlog) behind(o objects.Object, now, since time.Time) {
	if since.IsZero() {
		b.Undated++
		return
	}
	age := now.Sub(since)
	if age <= Patience {
		return
	}
	b.Behind++
	b.example(age, id(o))
}

// example keeps the one that waits longest; of two, the first by name.
func (b *Backlog) example(age time.Duration, name string) {
	if age > b.Oldest || age == b.Oldest && name < b.Example {
		b.Oldest, b.Example = age, name
	}
}

// changed is when the object was last written, with or without its status. It
// is zero if the object does not say. A write that changed nothing of the
// spec makes the object look younger than its change, which errs on the safe
// side.
func changed(o objects.Object, status bool) time.Time {
	var last metav1.Time
	for _, f := range o.GetManagedFields() {
		if f.Time != nil && (status || f.Subresource != "status") && f.Time.After(last.Time) {
			last = *f.Time
		}
	}
	if last.IsZero() && o.GetGeneration() == 1 && !status {
		return o.GetCreationTimestamp().Time
	}
	return last.Time
}
