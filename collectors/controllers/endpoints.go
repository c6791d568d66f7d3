package controllers

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Endpoints are the Services whose EndpointSlices are not what their pods are:
// that have none at all, that lack a pod which is ready, or hold one which is
// not. Pods count that have been as they are for longer than Patience, in slices
// that nobody has written for as long.
//
// The Services are listed after the window: one that is deleted meanwhile is
// not among them.
var Endpoints = unlessLarge(newLoopOf("endpoints", "the Services whose EndpointSlices lack a pod that is ready, or hold one that is not", "Service", "endpoint_slice",
	[]collectors.Any{cluster.NodeSummary},
	func(*collectors.Snapshot) looker {
		return &endpoints{services: map[string]service{}, slices: map[string]*slice{}, pods: map[string][]*ready{}, sets: map[string]labels.Set{}}
	},
	first("/apis/discovery.k8s.io/v1/endpointslices"), last("/api/v1/services"), first(allPods)))

const allPods = "/api/v1/pods"

// unlessLarge leaves out the list of all pods where there are many nodes, or
// nobody knows how many. A fact that asks for nothing else is then a gap.
func unlessLarge(f *collectors.Fact[Loop]) *collectors.Fact[Loop] {
	ask, fold := f.Ask, f.Fold
	f.Ask = func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		rs := ask(s, t)
		if cluster.TooMany(s) != nil {
			rs = slices.DeleteFunc(slices.Clone(rs), func(r collectors.Request) bool { return r.URL == list(allPods).URL })
		}
		return rs
	}
	f.Fold = func(s *collectors.Snapshot, t collectors.Target) collectors.Folder[Loop] {
		why, folder := cluster.TooMany(s), fold(s, t)
		done := folder.Done
		folder.Done = func(rs []collectors.Answered) (Loop, error) {
			if why != nil && len(rs) == 0 {
				return Loop{}, why
			}
			l, err := done(rs)
			if why != nil {
				l.Note = "pods were not compared: " + why.Detail
			}
			return l, err
		}
		return folder
	}
	return f
}

type service struct {
	made     time.Time
	selector labels.Set
	notReady bool // it publishes pods that are not ready, too
}

// sliceController marks the slices that the controller keeps.
// Source: k8s.io/endpointslice, controllerName.
const sliceController = "endpointslice-controller.k8s.io"

// A slice is what the EndpointSlices of one Service hold together.
type slice struct {
	written time.Time       // the latest of them
	ours    bool            // the controller manager's own controller keeps them
	ready   map[string]bool // by pod: whether it takes requests
}

// A ready is a pod that has been ready, or not ready, for longer than Patience.
type ready struct {
	name   string
	labels labels.Set
	ready  bool
	since  time.Time
}

type endpoints struct {
	services map[string]service
	slices   map[string]*slice
	pods     map[string][]*ready // by namespace
	sets     map[string]labels.Set
}

func (e *endpoints) look(_ *Loop, _ int, o objects.Object, now time.Time) {
	switch o := o.(type) {
	case *corev1.Service:
		if o.DeletionTimestamp == nil && len(o.Spec.Selector) > 0 && o.Spec.Type != corev1.ServiceTypeExternalName {
			e.services[id(o)] = service{laterOf(changed(o, false), o.CreationTimestamp.Time), maps.Clone(o.Spec.Selector), o.Spec.PublishNotReadyAddresses}
		}
	case *discoveryv1.EndpointSlice:
		e.slice(o)
	case *corev1.Pod:
		e.pod(o, now)
	}
}

func (e *endpoints) slice(o *discoveryv1.EndpointSlice) {
	name := o.Labels[discoveryv1.LabelServiceName]
	if name == "" {
		return
	}
	key := o.Namespace + "/" + name
	s := e.slices[key]
	if s == nil {
		s = &slice{ready: map[string]bool{}}
		e.slices[key] = s
	}
	s.ours = s.ours || o.Labels[discoveryv1.LabelManagedBy] == sliceController
	s.written = laterOf(s.written, laterOf(changed(o, true), o.CreationTimestamp.Time))
	for _, x := range o.Endpoints {
		if x.TargetRef != nil && x.TargetRef.Kind == "Pod" {
			s.ready[strings.Clone(x.TargetRef.Name)] = x.Conditions.Ready == nil || *x.Conditions.Ready
		}
	}
}

func (e *endpoints) pod(o *corev1.Pod, now time.Time) {
	if o.DeletionTimestamp != nil || o.Status.PodIP == "" || o.Status.Phase != corev1.PodRunning || len(o.Labels) == 0 {
		return
	}
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.PodReady && now.Sub(c.LastTransitionTime.Time) > Patience {
			set := labels.Set(o.Labels)
			text := set.String()
			if known, ok := e.sets[text]; ok {
				set = known // most pods have the labels of others
			} else {
				set = maps.Clone(set)
				e.sets[text] = set
			}
			ns := strings.Clone(o.Namespace)
			e.pods[ns] = append(e.pods[ns], &ready{strings.Clone(o.Name), set, c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time})
		}
	}
}

func (e *endpoints) close(l *Loop, now time.Time) {
	for _, key := range slices.Sorted(maps.Keys(e.services)) {
		l.Objects++
		s := e.services[key]
		if now.Sub(s.made) <= Patience {
			continue
		}
		if since := e.behind(key, s, now); !since.IsZero() {
			l.Behind++
			l.example(now.Sub(since), key)
		}
	}
}

// behind is since when the slices of a Service are not what they should be;
// zero if they are.
func (e *endpoints) behind(key string, s service, now time.Time) time.Time {
	x := e.slices[key]
	if x == nil {
		return s.made // the controller makes one even for a Service without pods
	}
	if now.Sub(x.written) <= Patience || !x.ours {
		return time.Time{} // it is at it, or somebody else keeps them
	}
	ns, _, _ := strings.Cut(key, "/")
	var since time.Time
	selector := s.selector.AsSelectorPreValidated()
	for _, p := range e.pods[ns] {
		listed, in := x.ready[p.name]
		wrong := p.ready && !listed || !p.ready && in && listed && !s.notReady
		if wrong && p.since.After(x.written) && selector.Matches(p.labels) && (since.IsZero() || p.since.Before(since)) {
			since = p.since
		}
	}
	return since
}
