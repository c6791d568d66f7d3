package leases

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// All is the target of facts about the leases as a whole.
var All = collectors.Target{Component: collectors.Leases, Addr: "kube:"}

// A Lease is a lock by which one of several processes leads.
type Lease struct {
	Namespace, Name string
	Holder          string        // the holder's identity, "cp-1_2b4ae1bc-…"; empty if it was released
	Duration        time.Duration // how long it is valid without being renewed; 0 if it does not say
	Created         time.Time
	Acquired        time.Time // when the holder took it; zero if it does not say
	Renewed         time.Time // by the holder's own clock; zero if it never was
	Transitions     int       // how often it has changed hands
	Strategy        string    // by which the API server decides who holds it; empty if candidates do among themselves
	// Behind is by how much, at least, the holder's clock is behind the API
	// server's, where that is proved: it renewed the lease between the two looks
	// with a time from before the first of them.
	Behind time.Duration
	fresh  time.Duration // and then, how old the renewal is at most
}

// ID names the lease as an operator does: "kube-system/kube-scheduler".
func (l Lease) ID() string { return l.Namespace + "/" + l.Name }

// Target is the lease as a thing that is judged.
func (l Lease) Target() collectors.Target {
	return collectors.Target{Component: collectors.Leases, Name: l.ID()}
}

// Host is the part of the holder's identity that names its host. client-go's
// users join the host's name and a UUID by an underscore.
func (l Lease) Host() string {
	if i := strings.LastIndexByte(l.Holder, '_'); i > 0 {
		return l.Holder[:i]
	}
	return l.Holder
}

// Age is how long ago the lease was renewed. The clock that it is held against
// is a Date header, which leaves off the fraction of a second: the true age is
// up to a second more. It is negative if the lease was renewed after that.
// Where the holder's clock is known to be behind, it is how long ago that
// renewal can have been at most.
func (l Lease) Age(at time.Time) time.Duration {
	if l.Behind > 0 {
		return l.fresh
	}
	return at.Sub(l.Renewed)
}

// Expired reports whether the lease is certain to have run out.
func (l Lease) Expired(at time.Time) bool {
	return l.Duration > 0 && !l.Renewed.IsZero() && l.Age(at) > l.Duration
}

// Fresh reports whether somebody holds the lease and it has not run out.
func (l Lease) Fresh(at time.Time) bool {
	return l.Holder != "" && l.Duration > 0 && !l.Renewed.IsZero() && !l.Expired(at)
}

// silentAfter is longer than any leader of a control plane goes without renewing:
// the longest retry period in the field is OpenShift's on a single node, 60 s, up to
// 72 s with jitter (library-go, pkg/config/leaderelection).
const silentAfter = 90 * time.Second

// Silent reports whether a lease of the control plane has not run out, and has not
// been renewed for longer than a leader that works would wait. Nobody may take it
// all the same: it was made to last for minutes or hours.
func (l Lease) Silent(at time.Time) bool {
	return l.Core() && l.Fresh(at) && l.Age(at) > silentAfter
}

// core are the leases without which a control plane stands still.
var core = []string{"kube-scheduler", "kube-controller-manager", "cloud-controller-manager"}

// Core reports whether the lease is one of the control plane's own. OpenShift
// keeps some in the component's namespace.
func (l Lease) Core() bool {
	return slices.Contains(core, l.Name) && (l.Namespace == "kube-system" || strings.HasPrefix(l.Namespace, "openshift-"))
}

// A Look is what the leases were at one time.
type Look struct {
	At     time.Time // by the API server's clock, less the fraction of a second
	Leases []Lease   // sorted by namespace and name
}

// Find returns the lease of that namespace and name.
func (l Look) Find(namespace, name string) (Lease, bool) {
	i, ok := slices.BinarySearchFunc(l.Leases, Lease{Namespace: namespace, Name: name}, compare)
	if !ok {
		return Lease{}, false
	}
	return l.Leases[i], true
}

// Of returns the lease for which a component's instances stand.
func (l Look) Of(name string) (Lease, bool) {
	for _, x := range l.Leases {
		if x.Name == name && x.Core() {
			return x, true
		}
	}
	return Lease{}, false
}

// Held is what the leases were at the run's two looks.
type Held struct {
	Look          // the last that succeeded
	Before *Look  // the one before; nil if only one succeeded
	Broken string // why there is none; empty if there is
}

// Leases lists the leases of leader elections. Those by which kubelets and API
// servers only say that they are alive are not among them.
var Leases = &collectors.Fact[Held]{
	ID:      "leases.held",
	Doc:     "who holds each leader-election lease and when it was renewed, by the API server's clock, at both looks",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		// Node leases are the many; the server leaves them out.
		u := "kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=" + url.QueryEscape("metadata.namespace!=kube-node-lease")
		return []collectors.Request{
			{Verb: collectors.List, URL: u, Sample: collectors.First},
			{Verb: collectors.List, URL: u, Sample: collectors.Last},
		}
	},
	Partial: true,
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Held] {
		// By name, since a run that extends its window looks a last time again.
		var looks [2]map[string]Lease
		for i := range looks {
			looks[i] = map[string]Lease{}
		}
		return collectors.Folder[Held]{
			Add: func(request int, o objects.Object) {
				if l, ok := newLease(o.(*coordinationv1.Lease)); ok {
					looks[request][l.ID()] = l
				}
			},
			Done: func(rs []collectors.Answered) (Held, error) { return newHeld(looks, rs) },
		}
	},
}

func newLease(o *coordinationv1.Lease) (Lease, bool) {
	if _, identity := o.Labels[identityLabel]; identity || o.Namespace == "kube-node-lease" {
		return Lease{}, false
	}
	l := Lease{Namespace: o.Namespace, Name: o.Name, Created: o.CreationTimestamp.Time}
	if s := o.Spec.HolderIdentity; s != nil {
		l.Holder = *s
	}
	if n := o.Spec.LeaseDurationSeconds; n != nil && *n > 0 {
		l.Duration = time.Duration(*n) * time.Second
	}
	if t := o.Spec.AcquireTime; t != nil {
		l.Acquired = t.Time
	}
	if t := o.Spec.RenewTime; t != nil {
		l.Renewed = t.Time
	}
	if n := o.Spec.LeaseTransitions; n != nil {
		l.Transitions = int(*n)
	}
	if s := o.Spec.Strategy; s != nil {
		l.Strategy = string(*s)
	}
	return l, true
}

func newHeld(looks [2]map[string]Lease, rs []collectors.Answered) (Held, error) {
	var got [2]*Look
	var why [2]*collectors.Gap
	for i, r := range rs {
		switch {
		case r.Gap != nil:
			why[i] = r.Gap
		case r.Date.IsZero():
			why[i] = collectors.Gapf(collectors.Absent, "the reply has no Date header: the age of a lease cannot be told by the API server's clock")
		default:
			got[i] = newLook(r.Date, looks[i])
		}
	}
	switch {
	case got[0] != nil && got[1] != nil:
		compareClocks(got[0], got[1])
		return Held{Look: *got[1], Before: got[0]}, nil
	case got[1] != nil:
		return Held{Look: *got[1], Broken: "the first look failed: " + why[0].Error()}, nil
	case got[0] != nil:
		return Held{Look: *got[0], Broken: "the second look failed: " + why[1].Error()}, nil
	}
	return Held{}, why[1]
}

// proof is what a clock must be off by to be told from the fractions of a second
// that the API server's own leaves off.
const proof = 2 * time.Second

// compareClocks looks for holders whose clock is behind. Candidates do not mind:
// each waits by its own clock for the lease not to change.
func compareClocks(before, now *Look) {
	passed := now.At.Sub(before.At)
	for i := range now.Leases {
		l := &now.Leases[i]
		b, ok := before.Find(l.Namespace, l.Name)
		if !ok || b.Holder != l.Holder || l.Holder == "" || !l.Renewed.After(b.Renewed) {
			continue
		}
		if by := before.At.Sub(l.Renewed); by > proof {
			l.Behind, l.fresh = by, passed
			if l.Renewed.Sub(b.Renewed) > passed/2 && l.Duration > 0 { // it goes on with it
				l.fresh = min(passed, l.Duration/3)
			}
		}
	}
}

func newLook(at time.Time, by map[string]Lease) *Look {
	l := &Look{At: at}
	for _, x := range by {
		l.Leases = append(l.Leases, x)
	}
	slices.SortFunc(l.Leases, compare)
	return l
}

func compare(a, b Lease) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
