package controllers

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Short is a workload that has fewer pods than it wants. That alone is nothing
// unusual: it may be about to make them.
type Short struct {
	Kind            string // "ReplicaSet", "StatefulSet", "DaemonSet", "Job"
	Namespace, Name string
	Deployment      string            // of a ReplicaSet; empty if it has none
	Labels          map[string]string // of its pods
	Missing         int
	Since           time.Time // when it was last written

	// Message is why the API server refused its pods, as its condition says, and
	// SaidAt since when. Only ReplicaSets have such a condition.
	Message string
	SaidAt  time.Time
}

// ID is "namespace/name".
func (x Short) ID() string { return x.Namespace + "/" + x.Name }

// Shortage is all such workloads.
type Shortage struct {
	At   time.Time // by the API server's clock
	Of   []Short
	Over int // beyond maxShort, which are not among them
}

// maxShort bounds memory.
const maxShort = 5000

// Lacking lists the workloads that have fewer pods than they want. It shares its
// lists with Work and Jobs.
var Lacking = &collectors.Fact[Shortage]{
	ID:      "controllers.lacking",
	Doc:     "the ReplicaSets, StatefulSets, DaemonSets and Jobs that have fewer pods than they want",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(Controlled),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			list("/apis/apps/v1/replicasets"), list("/apis/apps/v1/statefulsets"), list("/apis/apps/v1/daemonsets"), list("/apis/batch/v1/jobs"),
		}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Shortage] {
		now, gap := cluster.Now(s)
		out := Shortage{At: now}
		return collectors.Folder[Shortage]{
			Add: func(_ int, o objects.Object) {
				x, ok := short(o)
				switch {
				case !ok || o.GetDeletionTimestamp() != nil:
				case len(out.Of) == maxShort:
					out.Over++
				default:
					out.Of = append(out.Of, x)
				}
			},
			Done: func([]collectors.Answered) (Shortage, error) {
				if gap != nil {
					return Shortage{}, gap
				}
				return out, nil
			},
		}
	},
}

func short(o objects.Object) (Short, bool) {
	x := Short{Namespace: o.GetNamespace(), Name: o.GetName(), Since: changed(o, true)}
	var t corev1.PodTemplateSpec
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		x.Kind, t = "ReplicaSet", o.Spec.Template
		x.Missing = int(wants(o.Spec.Replicas) - o.Status.Replicas)
		for _, r := range o.OwnerReferences {
			if r.Kind == "Deployment" {
				x.Deployment = r.Name
			}
		}
		for _, c := range o.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue && c.Reason == "FailedCreate" {
				x.Message, x.SaidAt = collectors.OneLine(c.Message, maxRefusal), c.LastTransitionTime.Time
			}
		}
	case *appsv1.StatefulSet:
		x.Kind, t = "StatefulSet", o.Spec.Template
		x.Missing = int(wants(o.Spec.Replicas) - o.Status.Replicas)
	case *appsv1.DaemonSet:
		x.Kind, t = "DaemonSet", o.Spec.Template
		x.Missing = int(o.Status.DesiredNumberScheduled - o.Status.CurrentNumberScheduled)
	case *batchv1.Job:
		x.Kind, t = "Job", o.Spec.Template
		if suspended(o) || ended(o) {
			return x, false
		}
		want := wants(o.Spec.Parallelism)
		if o.Spec.Completions != nil {
			want = min(want, *o.Spec.Completions-o.Status.Succeeded)
		}
		x.Missing = int(want - o.Status.Active)
	}
	x.Labels = t.Labels
	return x, x.Missing > 0
}

// maxRefusal is as long as Pod Security's lists of what a pod must not do get.
const maxRefusal = 2000

// A RefusedPod is one event of a pod that was refused.
type RefusedPod struct {
	Kind, Namespace, Name string // who asked for it
	Message               string
	Last                  time.Time
	Count                 int32
}

// RefusedPods are the events of pods that the API server did not let anybody
// create. Events are kept for an hour. They are asked for only while a workload
// lacks pods. Of a ReplicaSet too: what its condition says is how it began.
var RefusedPods = &collectors.Fact[[]RefusedPod]{
	ID:    "controllers.refused-pods",
	Doc:   "events of pods that the API server refused to workloads which lack some",
	Needs: []collectors.Any{Lacking},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		l, gap := Lacking.One(s)
		switch {
		case gap != nil:
			return nil, gap
		case len(l.Of) == 0:
			return nil, collectors.Gapf(collectors.OutOfScope, "no workload lacks pods")
		}
		return []collectors.Target{Controlled}, nil
	},
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/api/v1/events?fieldSelector=" + url.QueryEscape("reason=FailedCreate"))}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[[]RefusedPod] {
		l, _ := Lacking.One(s)
		who := map[string]bool{}
		for _, x := range l.Of {
			who[x.Kind+" "+x.ID()] = true
		}
		by := map[string]RefusedPod{}
		return collectors.Folder[[]RefusedPod]{
			Add: func(_ int, o objects.Object) {
				e := o.(*corev1.Event)
				key := e.InvolvedObject.Kind + " " + e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
				if e.Reason != "FailedCreate" || !who[key] { // loose evidence holds others too
					return
				}
				x := RefusedPod{Kind: e.InvolvedObject.Kind, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name,
					Message: collectors.OneLine(e.Message, maxRefusal), Last: e.LastTimestamp.Time, Count: max(1, e.Count)}
				if e.Series != nil {
					x.Last, x.Count = e.Series.LastObservedTime.Time, e.Series.Count
				}
				if x.Last.IsZero() {
					x.Last = e.EventTime.Time
				}
				if before, ok := by[key]; !ok || x.Last.After(before.Last) {
					by[key] = x // each try names another pod: the last tells what is so now
				}
			},
			Done: func([]collectors.Answered) ([]RefusedPod, error) {
				var out []RefusedPod
				for _, x := range by {
					out = append(out, x)
				}
				slices.SortFunc(out, func(a, b RefusedPod) int {
					return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
				})
				return out, nil
			},
		}
	},
}

// A Quota is a ResourceQuota in numbers.
type Quota struct {
	Namespace, Name string
	Hard, Used      corev1.ResourceList
}

// maxQuotas bounds memory.
const maxQuotas = 20_000

// QuotaNumbers are the ResourceQuotas. It shares its list with Quotas.
var QuotaNumbers = &collectors.Fact[[]Quota]{
	ID:      "controllers.quota-numbers",
	Doc:     "how much of each ResourceQuota is used",
	Needs:   []collectors.Any{cluster.Clock}, // so that it is asked together with Quotas
	Targets: collectors.Single(Controlled),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/api/v1/resourcequotas")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Quota] {
		var out []Quota
		return collectors.Folder[[]Quota]{
			Add: func(_ int, o objects.Object) {
				if q := o.(*corev1.ResourceQuota); len(out) < maxQuotas {
					out = append(out, Quota{q.Namespace, q.Name, q.Spec.Hard, q.Status.Used})
				}
			},
			Done: func([]collectors.Answered) ([]Quota, error) { return out, nil },
		}
	},
}
