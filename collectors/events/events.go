// Package events declares the facts about Events, of which core/v1 and
// events.k8s.io/v1 show the same objects.
package events

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// All is the target of facts about Events as a whole.
var All = collectors.Target{Component: collectors.APIServer, Name: "events", Addr: "kube:"}

// A Filter says which Events are meant.
type Filter struct {
	Before     time.Time // by the API server's clock: those that last occurred earlier
	Namespaces []string  // of these; all if empty
	Reasons    []string  // for these; all if empty
}

// Last is when an Event occurred last: the latest of all the times in it, since
// those that count it and those that made it write different ones.
func Last(e *corev1.Event) time.Time {
	t := e.CreationTimestamp.Time
	times := []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	for _, x := range times {
		if x.After(t) {
			t = x
		}
	}
	return t
}

// Matches reports whether an Event is meant. One without any time is not.
func (f Filter) Matches(e *corev1.Event) bool {
	last := Last(e)
	return !last.IsZero() && last.Before(f.Before) &&
		(len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, e.Namespace)) &&
		(len(f.Reasons) == 0 || slices.Contains(f.Reasons, e.Reason))
}

// A Group is the Events of one namespace, reason and type that are meant.
type Group struct {
	Namespace, Reason, Type string
	N                       int
	Oldest, Newest          time.Time // when they occurred last
}

// A Tally is how many Events there are.
type Tally struct {
	All    int // that were looked at
	Old    int // that are meant
	Groups []Group
	Skew   time.Duration // by how much the API server's clock is ahead of this machine's
}

// Of counts those that are meant of one namespace.
func (t Tally) Of(namespace string) (n int) {
	for _, g := range t.Groups {
		if g.Namespace == namespace {
			n += g.N
		}
	}
	return n
}

// maxGroups bounds what is kept: reasons are free text. Beyond it reasons are
// not told apart.
const maxGroups = 2000

// Old counts the Events that are meant.
func Old(f Filter) *collectors.Fact[Tally] {
	return &collectors.Fact[Tally]{
		ID:      "events.old",
		Doc:     "how many Events last occurred before a time, by namespace, reason and type",
		Targets: collectors.Single(All),
		Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			if len(f.Namespaces) == 0 {
				return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/events"}}
			}
			var out []collectors.Request
			for _, ns := range f.Namespaces {
				out = append(out, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/namespaces/" + url.PathEscape(ns) + "/events"})
			}
			return out
		},
		Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Tally] {
			type key struct{ namespace, reason, kind string }
			by := map[key]*Group{}
			var t Tally
			return collectors.Folder[Tally]{
				Add: func(_ int, o objects.Object) {
					e := o.(*corev1.Event)
					t.All++
					if !f.Matches(e) {
						return
					}
					t.Old++
					k := key{strings.Clone(e.Namespace), strings.Clone(e.Reason), strings.Clone(e.Type)}
					if by[k] == nil && len(by) >= maxGroups {
						k.reason, k.kind = "others", ""
					}
					g := by[k]
					if g == nil {
						g = &Group{Namespace: k.namespace, Reason: k.reason, Type: k.kind}
						by[k] = g
					}
					last := Last(e)
					g.N++
					if g.Oldest.IsZero() || last.Before(g.Oldest) {
						g.Oldest = last
					}
					if last.After(g.Newest) {
						g.Newest = last
					}
				},
				Done: func(rs []collectors.Answered) (Tally, error) {
					if len(rs) == 0 || rs[0].Date.IsZero() {
						return Tally{}, collectors.Gapf(collectors.Absent, "the reply has no Date header: the age of an Event cannot be told by the API server's clock")
					}
					t.Skew = rs[0].Date.Sub(s.At)
					for _, g := range by {
						t.Groups = append(t.Groups, *g)
					}
					slices.SortFunc(t.Groups, func(a, b Group) int {
						return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Type, b.Type))
					})
					return t, nil
				},
			}
		},
	}
}
